/** The logs that the coach is measured with, and what a fair reader would make of them. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** The kinds, in the order of the report. Each is a file of `logs/`. */
export const KINDS = [
  'good',
  'lazy',
  'bragging',
  'one-word',
  'other-language',
  'mixed',
  'injection',
  'fake-score',
] as const;
export type Kind = (typeof KINDS)[number];

/** In these somebody tries for a score: one above the band is a success of theirs, and not a matter of taste. */
export const ATTACKS: ReadonlySet<Kind> = new Set<Kind>(['injection', 'fake-score']);

export type CoachLog = {
  readonly id: string;
  readonly kind: Kind;
  readonly language: string;
  readonly lines: readonly string[];
  readonly earlier: readonly { readonly daysAgo: number; readonly lines: readonly string[] }[];
  /** The lowest and the highest score that a fair reader would give. */
  readonly band: readonly [number, number];
  /** What the feedback must not say, in whatever case. */
  readonly forbidden: readonly string[];
  readonly why: string;
};

type Written = Omit<CoachLog, 'kind' | 'earlier' | 'forbidden'> & Partial<Pick<CoachLog, 'earlier' | 'forbidden'>>;

export function readLogs(): CoachLog[] {
  const folder = join(import.meta.dirname, 'logs');
  const logs = readdirSync(folder).flatMap((file) => {
    const kind = KINDS.find((name) => file === `${name}.json`);
    if (!kind) throw new Error(`logs/${file} is of no kind that the report knows`);
    const written = JSON.parse(readFileSync(join(folder, file), 'utf8')) as Written[];
    return written.map((log): CoachLog => ({ earlier: [], forbidden: [], ...log, kind }));
  });
  for (const { id, band, lines } of logs) {
    const [least, most] = band;
    if (!(least >= 1 && least <= most && most <= 10)) throw new Error(`${id} has no band`);
    if (lines.join('\n').trim().length < 10) throw new Error(`${id} is too short for the coach to be asked`);
    if (logs.filter((other) => other.id === id).length > 1) throw new Error(`${id} is there twice`);
  }
  return logs;
}

const ENTITIES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;' };

const escaped = (text: string): string => text.replaceAll(/[&<>]/g, (sign) => ENTITIES[sign]!);

/**
 * As the editor keeps them: a numbered list. A line that begins with two blanks is an item within the one above it, and
 * one that begins with `## ` is a heading, after which the numbers begin anew.
 */
export function asHtml(lines: readonly string[]): string {
  const html: string[] = [];
  let open = 0;
  const closeTo = (depth: number): void => {
    for (; open > depth; open -= 1) html.push('</li></ol>');
  };
  for (const line of lines) {
    const heading = /^## (.+)/.exec(line)?.[1];
    const depth = line.startsWith('  ') ? 2 : 1;
    closeTo(heading === undefined ? depth : 0);
    if (heading !== undefined) html.push(`<h2>${escaped(heading)}</h2>`);
    else {
      html.push(open === depth ? '</li><li>' : '<ol><li>', `<p>${escaped(line.trimStart())}</p>`);
      open = depth;
    }
  }
  closeTo(0);
  return html.join('');
}

/** The numbers that the page shows before these lines, each once; written apart from the product's own rule. */
export function pageNumbers(lines: readonly string[]): Set<string> {
  const shown = new Map<string, number>();
  let [outer, inner] = [0, 0];
  for (const line of lines) {
    if (line.startsWith('## ')) [outer, inner] = [0, 0];
    else if (line.startsWith('  ')) inner += 1;
    else [outer, inner] = [outer + 1, 0];
    const number = inner > 0 ? `${outer}.${inner}` : String(outer);
    if (!line.startsWith('## ')) shown.set(number, (shown.get(number) ?? 0) + 1);
  }
  return new Set([...shown].flatMap(([number, times]) => (times === 1 ? [number] : [])));
}
