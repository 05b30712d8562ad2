/** Reads the Markdown export, also after other programs edited or reformatted it. */
import { parseMarkdown } from '../../markdown/parse-markdown.ts';
import { DAY_HEADING, parseDayHeading } from '../day-heading.ts';
import { refuseDay, type ParsedDay } from '../exported-entry.ts';

/** A first-level heading: `# Day`, `# **Day** #`, or the day above a line of `=`. */
const HEADING = new RegExp(`^# +[*_]*(${DAY_HEADING})[*_]*[ \\t]*#*[ \\t]*$`);
const UNDERLINED = new RegExp(`^${DAY_HEADING}[ \\t]*$`);
const UNDERLINE = /^=+[ \t]*$/;
/** Finds the first day in a file. */
export const MARKDOWN_DAY = new RegExp(
  `${HEADING.source}|${UNDERLINED.source}(?:\\r\\n|\\r|\\n)${UNDERLINE.source}`,
  'm',
);
/** Without an indent: that could be the end of a code block in an item, where a day's heading is indented anyway. */
const FENCE = /^(`{3,}(?!.*`)|~{3,})/;

/** Yields nothing for a text that is not an export. Converts a day when it is asked for it. */
export function* readMarkdown(text: string): Generator<ParsedDay> {
  const lines = text.replace(/^\uFEFF/, '').split(/\r\n|\r|\n/);
  const fences = new Fences(lines);
  let label: string | null = null;
  let from = 0;
  for (let index = 0; index < lines.length; index += 1) {
    index = fences.endOf(index) ?? index;
    const line = lines[index]!;
    const isUnderlined = UNDERLINE.test(lines[index + 1] ?? '') && UNDERLINED.test(line);
    const heading = isUnderlined ? line : HEADING.exec(line)?.[1];
    if (heading === undefined) continue;
    if (label !== null) yield readDay(label, lines.slice(from, index));
    label = heading;
    if (isUnderlined) index += 1;
    from = index + 1;
  }
  if (label !== null) yield readDay(label, lines.slice(from));
}

function readDay(label: string, lines: readonly string[]): ParsedDay {
  const date = parseDayHeading(label);
  if (date === null) return refuseDay(label, 'invalidDate');
  const content = parseMarkdown(lines.join('\n'), { softBreaks: 'join', topHeading: 2 });
  return { kind: 'day', day: { date, content, coach: null } };
}

/** Finds the ends of code blocks, in which a day's heading does not count. */
class Fences {
  readonly #lines: readonly string[];
  /** By sign, the shortest fence that no later line closes. Keeps the search linear. */
  readonly #unclosed = new Map<string, number>();

  constructor(lines: readonly string[]) {
    this.#lines = lines;
  }

  /** Null if the line opens no code block, or one without an end: then the days below it would be lost. */
  endOf(index: number): number | null {
    const fence = FENCE.exec(this.#lines[index]!)?.[1];
    if (fence === undefined || fence.length >= (this.#unclosed.get(fence[0]!) ?? Infinity)) return null;
    const closing = new RegExp(`^ {0,3}${fence[0]}{${fence.length},}[ \\t]*$`);
    for (let end = index + 1; end < this.#lines.length; end += 1) if (closing.test(this.#lines[end]!)) return end;
    this.#unclosed.set(fence[0]!, fence.length);
    return null;
  }
}
