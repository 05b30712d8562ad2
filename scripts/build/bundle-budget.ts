/** The JavaScript budgets of pages, in kilobytes (1,000 bytes) after brotli compression. */
import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { ROOT } from '../project.ts';

const BUDGETS = [
  { page: 'landing.html', route: 'landing', files: 'scripts', name: 'landing page', kilobytes: 15 },
  { page: 'app.html', route: 'login', files: 'scripts', name: 'sign-in pages', kilobytes: 108 },
  { page: 'app.html', route: 'journal', files: 'early', name: 'journal until it can be edited', kilobytes: 104 },
  { page: 'app.html', route: 'journal', files: 'scripts', name: 'journal until React runs', kilobytes: 200 },
] as const;

/**
 * Prints the JavaScript size of each page and returns a message for each page over budget. Reads the build in `dist`.
 */
export async function checkBundleBudgets(): Promise<string[]> {
  const dist = join(ROOT, 'dist');
  const routes = JSON.parse(await readFile(join(dist, '.vite', 'routes.json'), 'utf8')) as Record<
    string,
    { early: string[]; scripts: string[] } | undefined
  >;
  const problems: string[] = [];
  for (const { page, route, files: kind, name, kilobytes } of BUDGETS) {
    const html = await readFile(join(dist, page), 'utf8');
    const linked = [...html.matchAll(/(?:src|href)="\/(assets\/[^"]+\.js)"/g)].map((match) => match[1]!);
    const files = new Set([...linked, ...(routes[route]?.[kind] ?? [])]);
    let bytes = 0;
    for (const file of files) bytes += (await stat(join(dist, `${file}.br`))).size;
    const size = (bytes / 1000).toFixed(1);
    process.stdout.write(`${name}: ${size} of ${kilobytes} KB JavaScript\n`);
    if (bytes > kilobytes * 1000) problems.push(`${name}: ${size} KB exceeds the budget of ${kilobytes} KB`);
  }
  return problems;
}
