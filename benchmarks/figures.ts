/** One measured figure with its target. */
export type Figure = { what: string; measured: string; target: string; isMet: boolean };

export function printFigures(title: string, figures: readonly Figure[]): void {
  process.stdout.write(`\n${title}\n`);
  for (const { what, measured, target, isMet } of figures) {
    process.stdout.write(`  ${isMet ? 'met   ' : 'MISSED'}  ${what}: ${measured} (target: ${target})\n`);
  }
}

export const median = (values: readonly number[]): number => percentile(values, 50);

/** The smallest value that at least `percent` % of the values do not exceed (nearest rank). NaN without values. */
export function percentile(values: readonly number[], percent: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.max(0, Math.ceil((percent / 100) * sorted.length) - 1)] ?? Number.NaN;
}
