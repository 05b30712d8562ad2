/** Converts the Markdown dialects of other programs to CommonMark that needs none of their other files. */

export type PlainMarkdown = { text: string; pictures: number };

type Options = {
  /** Obsidian and programs like it: wiki links, block ids, comments, callouts, inline fields. */
  isVault?: boolean;
};

const FENCE = /^(?:[ \t>]|[-*+] |\d{1,9}[.)] )*(`{3,}|~{3,}(?!~))([^`]*)$/;
/** Languages of code that a plugin runs. The program shows the result, which the file does not contain. */
const QUERY_LANGUAGE = /^(?:dataview|dataviewjs|query|tasks|button|tracker|calendar-nav|timeline|kanban)\b/i;

const MEDIA =
  /\.(?:png|jpe?g|jfif|gif|bmp|svg|webp|avif|heic|heif|tiff?|pdf|mp3|m4a|wav|ogg|opus|flac|3gp|webm|mp4|mov|m4v|mkv|ogv|avi|canvas|excalidraw(?:\.md)?|drawing)$/i;

/** Applies `convert` to the text outside of code, paragraph by paragraph. */
function outsideCode(
  markdown: string,
  convert: (text: string) => string,
  keepsFence: (info: string) => boolean,
): string {
  const output: string[] = [];
  let paragraph: string[] = [];
  let fence: { mark: string; isKept: boolean } | null = null;
  const flush = (): void => {
    if (paragraph.length > 0) output.push(...outsideCodeSpans(paragraph.join('\n'), convert));
    paragraph = [];
  };
  for (const line of markdown.split(/\r\n?|\n/)) {
    const opening: RegExpExecArray | null = FENCE.exec(line);
    if (fence) {
      if (fence.isKept) output.push(line);
      const [, mark = '', info = ''] = opening ?? [];
      if (mark.startsWith(fence.mark) && info.trim() === '') fence = null;
    } else if (opening) {
      flush();
      fence = { mark: opening[1]!, isKept: keepsFence(opening[2]!.trim()) };
      if (fence.isKept) output.push(line);
    } else if (line.trim() === '') {
      flush();
      output.push(line);
    } else paragraph.push(line);
  }
  flush();
  return output.join('\n');
}

const LEFT_OUT = '\uE000';

/** Applies `convert` to the text outside of code spans. Removes lines that it has emptied (`LEFT_OUT`). */
function outsideCodeSpans(paragraph: string, convert: (text: string) => string): string[] {
  const runs = [...paragraph.matchAll(/`+/g)];
  const indexes = new Map<string, { all: number[]; at: number }>();
  for (const [index, [run]] of runs.entries()) {
    const same = indexes.get(run);
    if (same) same.all.push(index);
    else indexes.set(run, { all: [index], at: 0 });
  }
  let result = '';
  let from = 0;
  for (let at = 0; at < runs.length; at += 1) {
    const opening = runs[at]!;
    const same = indexes.get(opening[0])!;
    while (same.at < same.all.length && same.all[same.at]! <= at) same.at += 1;
    const closing = same.all[same.at];
    if (closing === undefined) continue;
    const end = runs[closing]!.index + opening[0].length;
    result += convert(paragraph.slice(from, opening.index)) + paragraph.slice(opening.index, end);
    from = end;
    at = closing;
  }
  result += convert(paragraph.slice(from));
  if (!result.includes(LEFT_OUT)) return result.split('\n');
  return result.split('\n').flatMap((line) => {
    if (!line.includes(LEFT_OUT)) return [line];
    const rest = line.replaceAll(LEFT_OUT, '');
    return /^[\s>]*(?:[-*+]|\d{1,9}[.)])?\s*$/.test(rest) ? [] : [rest.trimEnd()];
  });
}

/** The repetitions are bounded, so that a run of brackets takes no quadratic time. */
const LABEL = String.raw`(?<!\\)\[(?:[^[\]\\\n]|\\.|\[[^[\]\n]{0,500}\]){0,1000}\]`;
const TARGET = String.raw`\((?:[^()\\<>\n]|\\.|\([^()\n]*\)|<[^<>\n]*>){0,2000}\)`;
const PICTURE = new RegExp(String.raw`!${LABEL}(?:${TARGET}|\[[^[\]\n]*\])(?:\{[^{}\n]*\})?`, 'g');
const LINK = new RegExp(String.raw`(${LABEL})(${TARGET})`, 'g');
const OUTSIDE = /^<?(?:https?:|mailto:|tel:|ftp:|\/\/|www\.)/i;

export function plainMarkdown(markdown: string, { isVault = false }: Options = {}): PlainMarkdown {
  let pictures = 0;
  const leaveOut = (): string => {
    pictures += 1;
    return LEFT_OUT;
  };
  const convert = (source: string): string => {
    let text = source.replaceAll(LEFT_OUT, '');
    if (isVault)
      text = text.replace(/!\[\[([^[\]\n]+)\]\]/g, (_, target: string) =>
        isMedia(target) ? leaveOut() : wikiText(target),
      );
    text = text
      .replace(PICTURE, leaveOut)
      .replace(/<(\/?)(?:img|embed|input|audio|video|iframe|object|source)\b[^<>]*>/gi, (tag, end: string) =>
        end === '' && !/^<source/i.test(tag) ? leaveOut() : LEFT_OUT,
      )
      // Attachments of Bear before version 2, such as `[image:Name.jpg]`.
      .replace(/\[(?:image|file|photo|audio):[^[\]\n]+\]/g, leaveOut)
      .replace(/(?<!!)\[\s*(?:\uE000\s*)?\]\([^()\n]*\)/g, LEFT_OUT);
    if (isVault) text = convertVault(text);
    return text.replace(LINK, (link, label: string, target: string) => {
      const address = target.slice(1, -1).trim();
      if (OUTSIDE.test(address)) return link;
      if (MEDIA.test(address.replace(/[?#].*$|\s+["'].*$|>$/g, ''))) pictures += 1;
      return label.slice(1, -1);
    });
  };
  const source = isVault ? withoutComments(markdown) : markdown;
  const keepsFence = (info: string): boolean => !isVault || !QUERY_LANGUAGE.test(info);
  return { text: outsideCode(source, convert, keepsFence), pictures };
}

const isMedia = (target: string): boolean => MEDIA.test(target.replace(/\\?[|#].*$/s, '').trim());

/** A wiki link as the program shows it: `[[a|b]]` is "b", `[[a#b]]` is "a > b". */
function wikiText(target: string): string {
  const [name, ...aliases] = target.split(/\\?\|/);
  const alias = aliases.join('|').trim();
  if (alias !== '') return alias;
  return name!
    .replace(/#\^[\w-]+$/, '')
    .replace(/^#/, '')
    .replaceAll('#', ' > ')
    .replace(/\.md$/, '')
    .trim();
}

/** A generated id has a letter or six digits: `x ^2` keeps its exponent. */
const BLOCK_ID = /(?:^|(?<![ \t])[ \t]+)\^(?=[\w-]*[A-Za-z]|\d{6})[A-Za-z0-9-]{3,}[ \t]*$/gm;

function convertVault(text: string): string {
  return text
    .replace(/\{\{\s*(?:\[\[)?(TODO|DONE)(?:\]\])?\s*\}\}/g, (_, word: string) => (word === 'DONE' ? '[x]' : '[ ]'))
    .replace(/\[\[([^[\]\n]+)\]\]/g, (_, target: string) => wikiText(target))
    .replace(BLOCK_ID, LEFT_OUT)
    .replace(/^([ \t]*(?:>[ \t]*)+)\[!([\w-]+)[^\]\n]*\][+-]?[ \t]*(.*)$/gm, (_, quote: string, _kind, title: string) =>
      title === '' ? `${quote}${LEFT_OUT}` : `${quote}**${title.trim()}**\n${quote.trimEnd()}`,
    )
    .replace(/==(?=\S)([^=\n]+)(?<=\S)==/g, '$1')
    .replace(/\[([\p{L}][^[\]:\n]*)::[ \t]*([^[\]\n]*)\](?!\()/gu, '$1: $2')
    .replace(/\(([\p{L}][^():\n]*)::[ \t]*([^()\n]*)\)/gu, '$2')
    .replace(
      /^([ \t]*(?:[-*+][ \t]+)?(?:\[[ xX]\][ \t]+)?[*_]{0,2}\p{L}[\p{L}\p{N} _-]*[*_]{0,2})::(?=[ \t]|$)/gmu,
      '$1:',
    );
}

/** Removes `%%` comments, which may span paragraphs and which Obsidian hides. After a digit, `%%` opens none. */
const withoutComments = (markdown: string): string => markdown.replace(/(^|[^`%\d])%%(?!%)[^]*?%%(?!%)/g, `$1`);
