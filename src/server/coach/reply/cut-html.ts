/** Truncates HTML to `length` characters and removes a tag that the cut splits: half a tag would be read as text. */
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
