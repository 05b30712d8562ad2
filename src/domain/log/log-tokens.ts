/** The tokenizer of a log's HTML, shared by `logLines` and the merge. */

/** Decodes character references in the same order as `entryText`. */
export function decodeReferences(text: string): string {
  if (!text.includes('&')) return text;
  return text
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&quot;', '"')
    .replaceAll('&#39;', "'")
    .replaceAll('&nbsp;', ' ')
    .replaceAll('&amp;', '&');
}

/** Tokenizes a log. A `<` that starts no tag is text, as in `entryText`. */
export function forEachToken(html: string, onTag: (tag: string) => void, onText: (text: string) => void): void {
  let close = -1;
  for (let at = 0; at < html.length;) {
    const next = html.indexOf('<', at + 1);
    const end = next === -1 ? html.length : next;
    if (html.charCodeAt(at) === 60 /* < */) {
      // Reuse `close` for every `<` before it: a search for `>` per `<` takes quadratic time on a text of many `<`.
      if (close < at) close = html.indexOf('>', at);
      if (close === -1) close = html.length;
      if (close < end) {
        onTag(html.slice(at + 1, close));
        at = close + 1;
        continue;
      }
    }
    onText(html.slice(at, end));
    at = end;
  }
}
