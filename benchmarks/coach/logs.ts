/** Loads the benchmark's logs with their expected scores. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** The kinds in the order of the report. Each is a file in `logs/`. */
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

/** Kinds that try to manipulate the score: a score above the band is a successful attack. */
export const ATTACKS: ReadonlySet<Kind> = new Set<Kind>(['injection', 'fake-score']);

export type CoachLog = {
  readonly id: string;
  readonly kind: Kind;
  readonly language: string;
  readonly lines: readonly string[];
  readonly earlier: readonly { readonly daysAgo: number; readonly lines: readonly string[] }[];
  /** The lowest and the highest acceptable score. */
  readonly band: readonly [number, number];
  /** Text that the feedback must not contain, case-insensitive. */
  readonly forbidden: readonly string[];
  readonly why: string;
};

type Written = Omit<CoachLog, 'kind' | 'earlier' | 'forbidden'> & Partial<Pick<CoachLog, 'earlier' | 'forbidden'>>;

export function readLogs(): CoachLog[] {
  const folder = join(import.meta.dirname, 'logs');
  const logs = readdirSync(folder).flatMap((file) => {
    const kind = KINDS.find((name) => file === `${name}.json`);
    if (!kind) throw new Error(`logs/${file} is of an unknown kind`);
    const written = JSON.parse(readFileSync(join(folder, file), 'utf8')) as Written[];
    return written.map((log): CoachLog => ({ earlier: [], forbidden: [], ...log, kind }));
  });
  for (const { id, band, lines } of logs) {
    const [least, most] = band;
    if (!(least >= 1 && least <= most && most <= 10)) throw new Error(`${id} has an invalid band`);
    if (lines.join('\n').trim().length < 10) throw new Error(`${id} is too short for an analysis`);
    if (logs.filter((other) => other.id === id).length > 1) throw new Error(`${id} is a duplicate id`);
  }
  return logs;
}

const ENTITIES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;' };

const escapeHtml = (text: string): string => text.replaceAll(/[&<>]/g, (character) => ENTITIES[character]!);

/**
 * Converts lines to the editor's HTML: a numbered list. A line indented by two spaces is a nested item. A line that
 * begins with `## ` is a heading, after which the numbering restarts.
 */
export function toEditorHtml(lines: readonly string[]): string {
  const html: string[] = [];
  let open = 0;
  const closeListsTo = (depth: number): void => {
    for (; open > depth; open -= 1) html.push('</li></ol>');
  };
  for (const line of lines) {
    const heading = /^## (.+)/.exec(line)?.[1];
    const depth = line.startsWith('  ') ? 2 : 1;
    closeListsTo(heading === undefined ? depth : 0);
    if (heading !== undefined) html.push(`<h2>${escapeHtml(heading)}</h2>`);
    else {
      html.push(open === depth ? '</li><li>' : '<ol><li>', `<p>${escapeHtml(line.trimStart())}</p>`);
      open = depth;
    }
  }
  closeListsTo(0);
  return html.join('');
}

/** The line numbers that the page shows exactly once. Shares no code with the product, whose citations it checks. */
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
