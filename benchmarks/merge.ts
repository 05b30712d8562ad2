/**
 * Measures the processor time of merging two versions of a day with 200 items, which two devices edited independently.
 * On an idle machine the user waits that long.
 */
import { mergeLogs } from '#domain/merge/merge-logs.ts';
import { median, percentile, printFigures } from './figures.ts';

const ITEMS = 200;
const RUNS = 200;
const MAX_MS = 20;
const WORDS =
  'call with the report team done plan review fix test deploy bug mail lunch sync draft client invoice'.split(' ');

/** A fixed sequence, so that every run merges the same days. */
let seed = 1;
const random = (limit: number): number => {
  seed = (seed * 1_103_515_245 + 12_345) & 0x7f_ff_ff_ff;
  return (seed >> 8) % limit;
};
const text = (): string => Array.from({ length: 4 + random(8) }, () => WORDS[random(WORDS.length)]!).join(' ');
const log = (items: readonly string[]): string => `<ol>${items.map((item) => `<li><p>${item}</p></li>`).join('')}</ol>`;

/** Inserts, deletes, edits or moves an item `count` times. */
function edit(base: readonly string[], count: number, author: string): string[] {
  const items = [...base];
  for (let index = 0; index < count; index += 1) {
    const at = random(items.length);
    const kind = random(4);
    if (kind === 0) items.splice(at, 0, text());
    else if (kind === 1) items.splice(at, 1);
    else if (kind === 2) items[at] += ` ${author}${index}`;
    else items.splice(random(items.length), 0, ...items.splice(at, 1));
  }
  return items;
}

const base = Array.from({ length: ITEMS }, text);
const CASES: readonly (readonly [what: string, base: string, mine: string, theirs: string])[] = [
  ['10 edits on each device', log(base), log(edit(base, 10, 'm')), log(edit(base, 10, 't'))],
  ['100 edits on each device', log(base), log(edit(base, 100, 'm')), log(edit(base, 100, 't'))],
  ['every item edited on both', log(base), log(base.map((item) => `${item} m`)), log(base.map((item) => `t ${item}`))],
  ['no common item', '', log(base), log(Array.from({ length: ITEMS }, text))],
];

printFigures(
  'Merge of two days with 200 items each (processor time)',
  CASES.map(([what, ...logs]) => {
    const times = Array.from({ length: RUNS }, () => {
      const before = process.threadCpuUsage();
      mergeLogs(...logs);
      return process.threadCpuUsage(before).user / 1000;
    });
    // A page usually merges once, with code that the compiler has not optimised yet. Only the first run of the first
    // case measures that: it warms the code up for all later runs.
    const [firstRun, typical, p95] = [times[0]!, median(times), percentile(times, 95)];
    return {
      what,
      measured: `first run ${firstRun.toFixed(1)} ms, median ${typical.toFixed(1)} ms, p95 ${p95.toFixed(1)} ms`,
      target: `p95 at most ${MAX_MS} ms`,
      isMet: p95 <= MAX_MS,
    };
  }),
);
