/** Renders an index page with all screenshots. */
const STYLE = `body{font:15px/1.5 system-ui;margin:2rem;background:#8a857d;color:#111}
h2{margin:2rem 0 .5rem}div{display:flex;flex-wrap:wrap;gap:1rem;align-items:flex-start}
img{display:block;block-size:26rem;inline-size:auto;object-fit:cover;object-position:top;max-inline-size:44rem;border-radius:4px}`;

export function contactSheet(names: readonly string[], themes: readonly string[], widths: readonly number[]): string {
  const row = (name: string, theme: string) =>
    widths
      .map((width) => `${name}-${width}-${theme}.png`)
      .map((file) => `<a href="${file}"><img src="${file}" alt="${file}" loading="lazy"></a>`);
  const scene = (name: string) =>
    `<h2>${name}</h2>${themes.map((theme) => `<div>${row(name, theme).join('')}</div>`).join('')}`;
  return `<!doctype html><html lang="en"><meta charset="utf-8"><title>Screens</title><style>${STYLE}</style><h1>Every screen</h1>${names.map(scene).join('')}</html>\n`;
}
