/** The measurements as a table. */
import type { Measurement } from './measure-fault.ts';

const HEAD = [
  'fault',
  'database accepts writes after',
  'first save after',
  'longest time without a save',
  'every page saved after',
  'longest time without a save in the repair',
  'lost',
  'doubled',
  'failed requests of the writers',
];

const seconds = (ms: number | null): string => (ms === null ? '–' : `${(ms / 1_000).toFixed(1)} s`);

export function formatReport(measurements: readonly Measurement[], acknowledged: number): string {
  const rows = measurements.map((each) => [
    each.fault,
    ...[each.failoverMs, each.savedMs, each.gapMs, each.allPagesMs, each.repairGapMs].map(seconds),
    String(each.lost),
    String(each.doubled),
    Object.entries(each.failures)
      .map(([kind, count]) => `${String(count)} × ${kind}`)
      .join(', ') || 'none',
  ]);
  const table = [HEAD, HEAD.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`);
  const words = measurements.map((each) => `${each.fault}: ${each.words.join(' > ')}`);
  return [`${String(acknowledged)} items were acknowledged.`, ...['', ...table, '', 'The page said:', ...words]].join(
    '\n',
  );
}
