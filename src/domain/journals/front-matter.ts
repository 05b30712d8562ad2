/** YAML: whole files (RedNotebook), and at the beginning of a Markdown file (Obsidian, Joplin, site generators). */
import { parse } from 'yaml';

export type FrontMatter = { properties: ReadonlyMap<string, unknown>; body: string };

const BLOCK = /^\uFEFF?---[ \t]*\r?\n([^]*?)^(?:---|\.\.\.)[ \t]*(?:\r?\n|$)/m;

/** The properties by lower-case name, and the text below them. A text without front matter is all body. */
export function splitFrontMatter(text: string): FrontMatter {
  const none = { properties: new Map<string, unknown>(), body: text };
  if (!/^\uFEFF?---[ \t]*\r?\n/.test(text)) return none;
  const match = BLOCK.exec(text);
  if (!match) return none;
  const lines = match[1]!.split(/\r?\n/).filter((line) => line.trim() !== '');
  // A line of dashes is also a thematic break: only lines of keys, their values and comments are front matter.
  if (lines.length > 0 && !/^(?:[\p{L}\p{N}_"'].*?:(?:\s|$)|#|%)/u.test(lines[0]!)) return none;
  return { properties: parseProperties(match[1]!), body: text.slice(match[0].length) };
}

/** `failsafe` leaves every value a text as it is written: a date stays `2024-05-01`. Throws if the YAML is broken. */
export const parseYaml = (yaml: string): unknown =>
  parse(yaml, { schema: 'failsafe', uniqueKeys: false, maxAliasCount: 0, logLevel: 'error' });

function parseProperties(yaml: string): Map<string, unknown> {
  const byName = (entries: readonly (readonly [string, unknown])[]): Map<string, unknown> =>
    new Map(entries.map(([name, value]) => [name.toLowerCase().trim(), value]));
  try {
    const values = parseYaml(yaml);
    if (typeof values === 'object' && values !== null && !Array.isArray(values)) return byName(Object.entries(values));
  } catch {
    // Templates and colons in values break YAML. The simple lines are still readable.
  }
  const simple = yaml.split(/\r?\n/).flatMap((line) => {
    const [, name, value] = /^([\p{L}\p{N}_ -]+):[ \t]*(.*)$/u.exec(line) ?? [];
    return name === undefined ? [] : [[name, value!.replace(/^(["'])(.*)\1$/, '$2')] as const];
  });
  return byName(simple);
}

/** The first of these properties that is a text, trimmed. */
export function textProperty(properties: ReadonlyMap<string, unknown>, names: readonly string[]): string | null {
  for (const name of names) {
    const value = properties.get(name);
    if (typeof value === 'string' && value.trim() !== '') return value.trim();
  }
  return null;
}
