/**
 * `npm run screenshots [-- NAME…]`: takes screenshots of every scene in both themes at three widths, into
 * `screenshots/`, with an index page. With arguments, takes only scenes whose names contain one.
 */
import { mkdir, readdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ensureTestBrowser } from './browser.ts';
import { runTool } from './child-processes.ts';
import { exitWithParent } from './lifecycle/exit-with-parent.mjs';
import { ROOT } from './project.ts';

const FOLDER = join(ROOT, 'screenshots');
const STYLE = `body{font:15px/1.5 system-ui;margin:2rem;background:#8a857d;color:#111}
h2{margin:2rem 0 .5rem}div{display:flex;flex-wrap:wrap;gap:1rem;align-items:flex-start}
img{display:block;block-size:26rem;inline-size:auto;object-fit:cover;object-position:top;max-inline-size:44rem;border-radius:4px}`;

exitWithParent();

const names = process.argv.slice(2);
if (names.length === 0) await rm(FOLDER, { recursive: true, force: true });
await mkdir(FOLDER, { recursive: true });
const only = names.length > 0 ? ['--grep', names.join('|')] : [];
const ok = await runTool('playwright', ['test', '--config', 'tests/screenshots/playwright.config.ts', ...only], {
  CHROME_PATH: await ensureTestBrowser(),
});
await writeFile(join(FOLDER, 'index.html'), indexPage(await readdir(FOLDER)));
process.stdout.write(`Wrote ${join(FOLDER, 'index.html')}\n`);
process.exit(ok ? 0 : 1);

/** A file is named by its scene, its width and its theme: `login-390-dark.png`. */
function indexPage(files: readonly string[]): string {
  const scenes = Map.groupBy(
    files.filter((file) => file.endsWith('.png')),
    (file) => file.replace(/-\d+-\w+\.png$/, ''),
  );
  const row = (shots: readonly string[], theme: string): string =>
    shots
      .filter((file) => file.endsWith(`-${theme}.png`))
      .toSorted((one, other) => Number(/\d+/.exec(one)) - Number(/\d+/.exec(other)))
      .map((file) => `<a href="${file}"><img src="${file}" alt="${file}" loading="lazy"></a>`)
      .join('');
  const parts = [...scenes]
    .toSorted(([one], [other]) => one.localeCompare(other))
    .map(([name, shots]) => `<h2>${name}</h2><div>${row(shots, 'light')}</div><div>${row(shots, 'dark')}</div>`);
  return `<!doctype html><html lang="en"><meta charset="utf-8"><title>Screens</title><style>${STYLE}</style><h1>Every screen</h1>${parts.join('')}</html>\n`;
}
