/**
 * Apple Journal: `AppleJournalEntries/Entries/*.html`, one page per entry, and its pictures in `Resources`. The export
 * writes the entry's local day in the language of the device, and no time.
 */
import {
  type JournalEntry,
  type JournalReader,
  type Skipped,
  type SourceFile,
  fileName,
  readEachFile,
} from './journal-reader.ts';
import { attributeOf, findElements, hasClass, replaceElements, tagsOf, textOf } from './markup.ts';
import { findDate, resolveDates } from './written-dates.ts';

const isPage = ({ path }: SourceFile): boolean => /\.html?$/i.test(path) && !/(?:^|\/)index\.html?$/i.test(path);

const isPageOfJournal = (head: string): boolean =>
  /class=['"]pageHeader['"]/.test(head) || /class=['"]bodyText['"]/.test(head);

export const appleJournal: JournalReader = {
  program: 'Apple Journal',
  async detect(files, peek) {
    const pages = files.filter(isPage);
    const likely = pages.find(({ path }) => /(?:^|\/)Entries\/[^/]+$/.test(path)) ?? pages[0];
    return likely && isPageOfJournal(await peek(likely)) ? 0.95 : 0;
  },
  owns: () => (file) => /(?:^|\/)AppleJournalEntries\/(?:index\.html?$|Resources\/)/i.test(file.path),
  read: (files, context) => readEachFile(files.filter(isPage), context, readPage),
};

function* readPage(file: SourceFile, html: string): Generator<JournalEntry | Skipped> {
  const source = file.path;
  const div = (className: string): string | null =>
    findElements(html, 'div', (attributes) => hasClass(attributes, className))[0]?.inner ?? null;
  const written = [findDate(textOf(div('pageHeader') ?? '')), findDate(fileName(file))].filter((date) => date !== null);
  if (written.length === 0) {
    yield { kind: 'skipped', source, reason: 'noDate' };
    return;
  }
  // The header is the date that Journal shows. If its order of day and month is ambiguous, the file name decides.
  const [header, name] = resolveDates(written, false);
  const date = header && 'day' in header ? header : (name ?? header!);
  if ('reason' in date) {
    yield { kind: 'skipped', source, reason: date.reason };
    return;
  }
  const title = textOf(div('title') ?? '');
  const prompt = textOf(div('reflectionPrompt') ?? '');
  const body = bodyOf(html, div('bodyText') ?? '');
  yield {
    kind: 'entry',
    day: date.day,
    time: null,
    title: [title, prompt].find((text) => text !== '') ?? null,
    body: { format: 'html', text: title !== '' && prompt !== '' ? `<p>${escapeText(prompt)}</p>${body}` : body },
    source,
    pictures: picturesOf(html),
  };
}

const escapeText = (text: string): string => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');

/** Counts photos, videos, recordings, drawings and documents. Places, workouts and songs are not files. */
const picturesOf = (html: string): number =>
  findElements(html, 'div', (attributes) =>
    /\bassetType_(?:photo|livePhoto|video|audio|drawing|document)/i.test(attributeOf(attributes, 'class') ?? ''),
  ).length;

/** Removes opening tags at the end one by one: a single pattern for all would take quadratic time on many tags. */
function withoutOpenTags(html: string): string {
  for (let text = html.trimEnd(); ;) {
    const at = text.lastIndexOf('<');
    if (!/^<(?:p|span)\b[^>]*>$/.test(text.slice(at))) return text;
    text = text.slice(0, at).trimEnd();
  }
}

/**
 * The export opens `bodyText` in one paragraph and closes it in another, so its HTML begins with closing tags and ends
 * with opening tags. Bold and italics are classes of the page's style sheet.
 */
function bodyOf(html: string, body: string): string {
  const styles = new Map<string, string>();
  for (const { inner } of findElements(html, 'style'))
    for (const [, name, rules] of inner.matchAll(/span\.(\w+)\s*\{([^{}]*)\}/g)) {
      const style = [
        /font-weight\s*:\s*(?:bold|[6-9]00)|-(?:Bold|Semibold|Heavy)/i.test(rules!) ? 'font-weight:bold' : '',
        /font-style\s*:\s*italic|-(?:\w*Italic|Oblique)/i.test(rules!) ? 'font-style:italic' : '',
        /line-through/i.test(rules!) ? 'text-decoration:line-through' : '',
      ].filter((rule) => rule !== '');
      if (style.length > 0) styles.set(name!, style.join(';'));
    }
  const whole = withoutOpenTags(body.replace(/^\s*(?:<\/\w+>\s*)+/, ''));
  let result = '';
  let from = 0;
  for (const tag of tagsOf(whole)) {
    const style =
      tag.kind === 'start' && tag.name === 'span' ? styles.get(attributeOf(tag.attributes, 'class') ?? '') : undefined;
    if (style === undefined) continue;
    result += `${whole.slice(from, tag.start)}<span style="${style}">`;
    from = tag.end;
  }
  return replaceElements(
    result + whole.slice(from),
    'img',
    () => true,
    () => '',
  );
}
