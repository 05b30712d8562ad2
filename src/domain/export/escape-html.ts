/** Escapes text for the HTML of a log, so that `isCleanLog` accepts it. Removes NUL and replaces lone surrogates. */
export const escapeHtml = (text: string): string =>
  text.replaceAll('\0', '').toWellFormed().replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
