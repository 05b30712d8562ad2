/** How every benchmark reports: one line a figure, what was measured beside what is to be reached. */
export type Figure = {
  what: string;
  measured: string;
  toReach: string;
  reached: boolean;
};

export function printFigures(title: string, figures: readonly Figure[]): void {
  process.stdout.write(`\n${title}\n`);
  for (const { what, measured, toReach, reached } of figures) {
    process.stdout.write(`  ${reached ? 'reached' : 'MISSED '}  ${what}: ${measured} (to reach: ${toReach})\n`);
  }
}

export const median = (values: readonly number[]): number => percentile(values, 50);

/** The value below which `percent` of the values lie (nearest rank). */
export function percentile(values: readonly number[], percent: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.max(0, Math.ceil((percent / 100) * sorted.length) - 1)] ?? Number.NaN;
}
