import type { AsService } from '../database/database.ts';

/** A statement of a purge changes at most this many rows, so that it holds no lock for long. */
export const BATCH_ROWS = 1_000;

/** Repeats a statement that changes at most `BATCH_ROWS` rows until none is left. Returns the number of changed rows. */
export async function runInBatches(
  service: AsService,
  text: string,
  values: readonly unknown[],
  signal: AbortSignal,
): Promise<number> {
  let changed = 0;
  for (;;) {
    const { rowCount } = await service.statement(text, values);
    changed += rowCount;
    if (rowCount < BATCH_ROWS || signal.aborted) return changed;
  }
}
