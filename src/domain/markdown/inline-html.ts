/** Writes the inline HTML of a log from text, marks that may overlap, and foreign HTML tags. */
import { escapeHtml } from '../log/entry-html.ts';
import type { Mark } from '../log/log-lines.ts';
import { linkAsText } from '../log/links.ts';

const MARKS: Readonly<Record<string, Mark>> = {
  ...{ strong: 'strong', b: 'strong', em: 'em', i: 'em', u: 'u', ins: 'u' },
  ...{ s: 's', del: 's', strike: 's', code: 'code', kbd: 'code', samp: 'code', tt: 'code' },
};
/** Elements that stand on lines of their own. */
const BLOCKS =
  /^(?:address|article|aside|blockquote|caption|center|d[dlt]|details|div|figcaption|figure|footer|h[1-6r]|header|li|main|nav|ol|p|pre|section|summary|table|t[dhr]|tbody|tfoot|thead|ul)$/;
/** Elements whose tags are left out. The tag of any other element is text: `Map<Key>`. */
const INLINE = /^(?:abbr|bdi|bdo|big|cite|dfn|font|mark|q|small|span|sub|sup|time|var|wbr)$/;
const TAG = /^<(\/?)([a-z][a-z0-9]*)/i;
const attribute = (tag: string, name: string): string | null => {
  const match = new RegExp(`\\s${name}\\s*=\\s*(?:"([^"]*)"|'([^']*)'|([^\\s"'>]+))`, 'i').exec(tag);
  return match ? (match[1] ?? match[2] ?? match[3]!) : null;
};

export class InlineHtml {
  #html = '';
  readonly #lines: string[] = [];
  /** The marks that are set, each once for every time it was set: marks of one kind may be nested. */
  readonly #marks: Mark[] = [];
  readonly #openTags: Mark[] = [];
  /** The address of an open `<a>` and the text since. */
  #link: { href: string; label: string } | null = null;

  addText(text: string): void {
    if (text === '') return;
    this.#syncTags();
    this.#html += escapeHtml(text);
    if (this.#link) this.#link.label += text;
  }

  setMark(mark: Mark, isOn: boolean): void {
    if (isOn) this.#marks.push(mark);
    else if (this.#marks.includes(mark)) this.#marks.splice(this.#marks.lastIndexOf(mark), 1);
  }

  addBreak(): void {
    this.#syncTags();
    this.#html += '<br>';
  }

  /** Ends the line. The next one has the same marks. */
  endLine(): void {
    this.#closeTags(0);
    this.#lines.push(this.#html);
    this.#html = '';
  }

  end(): string[] {
    this.endLine();
    return this.#lines;
  }

  /** Adds a tag, a comment or another construct of HTML. */
  addTag(tag: string): void {
    const match = TAG.exec(tag);
    const name = match?.[2]!.toLowerCase();
    const isEnd = match?.[1] === '/';
    if (name === undefined) {
      if (!tag.startsWith('<!--')) this.addText(tag);
    } else if (name === 'br') this.addBreak();
    else if (MARKS[name]) this.setMark(MARKS[name], !isEnd);
    else if (BLOCKS.test(name)) this.endLine();
    else if (name === 'a') this.#addLink(isEnd ? null : (attribute(tag, 'href') ?? ''));
    else if (name === 'img') this.#addImage(tag);
    else if (!INLINE.test(name)) this.addText(tag);
  }

  #addLink(href: string | null): void {
    const link = this.#link;
    this.#link = href === null ? null : { href, label: '' };
    if (link) this.addText(linkAsText(link.label, link.href).suffix ?? '');
  }

  #addImage(tag: string): void {
    const label = attribute(tag, 'alt') ?? '';
    this.addText(label + (linkAsText(label, attribute(tag, 'src') ?? '').suffix ?? ''));
  }

  #syncTags(): void {
    const marks = [...new Set(this.#marks)];
    let same = 0;
    while (same < this.#openTags.length && this.#openTags[same] === marks[same]) same += 1;
    this.#closeTags(same);
    for (const mark of marks.slice(same)) {
      this.#html += `<${mark}>`;
      this.#openTags.push(mark);
    }
  }

  #closeTags(depth: number): void {
    while (this.#openTags.length > depth) this.#html += `</${this.#openTags.pop()!}>`;
  }
}
