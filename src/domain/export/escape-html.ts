/** Escapes text for the HTML of a log: `isCleanLog` accepts it, and `entryText` returns the same text. */
export const escapeHtml = (text: string): string =>
  text.replaceAll('\0', '').toWellFormed().replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
