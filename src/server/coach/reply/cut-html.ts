/** As much of a log's HTML as is read. The end of a cut may fall within a tag, which would then be read as words. */
export function cutHtml(html: string, length: number): { html: string; cut: boolean } {
  if (html.length <= length) return { html, cut: false };
  return {
    html: html
      .slice(0, length)
      .toWellFormed()
      .replace(/<[^<>]*$/, ''),
    cut: true,
  };
}
