/** Text as it stands in the HTML of a log: what `isCleanLog` takes, and `entryText` reads back as the same text. */
export const escapeHtml = (text: string): string =>
  text.replaceAll('\0', '').toWellFormed().replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
