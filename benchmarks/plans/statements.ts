/** Collects the statements that the product runs in its tests, so that no list must name a new statement. */
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SERVER_TESTS } from '../../scripts/other-databases/run-tests.ts';
import { runTool } from '../../scripts/child-processes.ts';
import { RECORD_VARIABLE, type RecordedStatement } from '../../tests/support/statements/record-statements.ts';

/** Runs the tests of the server that use the database. @throws Error if one fails */
export async function recordStatements(): Promise<RecordedStatement[]> {
  const folder = await mkdtemp(join(tmpdir(), 'hustle-forge-statements-'));
  try {
    const tests = ['run', '--project=server', '--reporter=dot', ...SERVER_TESTS];
    if (!(await runTool('vitest', tests, { [RECORD_VARIABLE]: folder }))) {
      throw new Error('the tests that run the statements failed');
    }
    return await readStatements(folder);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Returns each text once for each role. */
export async function readStatements(folder: string): Promise<RecordedStatement[]> {
  const statements = new Map<string, RecordedStatement>();
  for (const file of (await readdir(folder)).toSorted()) {
    for (const line of (await readFile(join(folder, file), 'utf8')).split('\n').filter((text) => text !== '')) {
      const statement = JSON.parse(line) as RecordedStatement;
      statements.set(`${statement.role} ${statement.text}`, statement);
    }
  }
  return [...statements.values()];
}
