/**
 * Parses YAML files (RedNotebook), and the front matter of Markdown files in YAML or simple TOML (Obsidian, Joplin,
 * site generators).
 */
import { parse } from 'yaml';

export type FrontMatter = { properties: ReadonlyMap<string, unknown>; body: string };

const BLOCK = /^\uFEFF?(---|\+\+\+)[ \t]*\r?\n([^]*?)^(?:\1|\.\.\.)[ \t]*(?:\r?\n|$)/m;

/** The properties by lower-case name, and the text below them. A text without front matter is all body. */
export function splitFrontMatter(text: string): FrontMatter {
  const none = { properties: new Map<string, unknown>(), body: text };
  if (!/^\uFEFF?(?:---|\+\+\+)[ \t]*\r?\n/.test(text)) return none;
  const match = BLOCK.exec(text);
  if (!match) return none;
  const [block, mark, written] = match as unknown as [string, string, string];
  const yaml = mark === '---' ? written : written.replace(/^([\w-]+)[ \t]*=/gm, '$1:');
  const lines = yaml.split(/\r?\n/).filter((line) => line.trim() !== '');
  // A line of dashes may be a thematic break: in front matter, a key, a comment or a directive follows it.
  if (lines.length > 0 && !/^(?:[\p{L}\p{N}_"'].*?:(?:\s|$)|#|%)/u.test(lines[0]!)) return none;
  return { properties: parseProperties(yaml), body: text.slice(block.length) };
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
    // Placeholders of templates and colons in values break YAML. Lines of `name: value` are still readable.
  }
  const simple = yaml.split(/\r?\n/).flatMap((line) => {
    const [, name, value] = /^([\p{L}\p{N}_ -]+):[ \t]*(.*)$/u.exec(line) ?? [];
    return name === undefined ? [] : [[name, value!.replace(/^(["'])(.*)\1$/, '$2')] as const];
  });
  return byName(simple);
}

/**
 * The text of the first of these properties that has one, trimmed. Lists are joined, because YAML reads a wiki link
 * without quotation marks (`[[May 1, 2024]]`) as a list.
 */
export function textProperty(properties: ReadonlyMap<string, unknown>, names: readonly string[]): string | null {
  for (const name of names) {
    const value = [properties.get(name)].flat(2).filter((part) => typeof part === 'string');
    if (value.join('').trim() !== '') return value.join(', ').trim();
  }
  return null;
}
