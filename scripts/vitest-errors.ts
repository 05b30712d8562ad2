/**
 * A reporter of Vitest: writes the errors that fail a run although no test failed. Vitest's own JSON leaves them out:
 * unhandled errors, hooks of a group of tests, and files whose worker died.
 */
import { writeFile } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import type { Reporter, Vitest } from 'vitest/node';
import { ROOT } from './project.ts';

export type FailedTest = { file: string; title: string; message: string };

type RunEnd = Parameters<NonNullable<Reporter['onTestRunEnd']>>;
type TestModule = RunEnd[0][number];
type RunError = RunEnd[1][number];

/** The errors of a run stand beside its JSON. */
export const errorsFile = (report: string): string => join(dirname(report), 'vitest-errors.json');

export default class VitestErrors implements Reporter {
  #report = '';

  onInit({ config }: Vitest): void {
    const { outputFile } = config;
    if (typeof outputFile === 'object') this.#report = outputFile['json'] ?? '';
  }

  async onTestRunEnd(modules: readonly TestModule[], unhandled: readonly RunError[]): Promise<void> {
    const errors = [...unhandled.map(readUnhandledError), ...modules.flatMap(readModuleErrors)];
    await writeFile(errorsFile(this.#report), JSON.stringify(errors));
  }
}

function readUnhandledError(error: RunError): FailedTest {
  const { VITEST_TEST_PATH: path, VITEST_TEST_NAME: test } = error;
  const type = typeof error['type'] === 'string' ? error['type'] : 'Unhandled Error';
  const title = typeof test === 'string' ? `${type} in or after "${test}"` : type;
  return { file: typeof path === 'string' ? relative(ROOT, path) : 'Vitest', title, message: readText(error) };
}

function readModuleErrors(module: TestModule): FailedTest[] {
  const file = relative(ROOT, module.moduleId);
  const hooks = [...module.children.allSuites()].flatMap((suite) =>
    suite.errors().map((error) => ({ file, title: suite.fullName, message: readText(error) })),
  );
  const isUnfinished = ['pending', 'queued'].includes(module.state());
  return isUnfinished ? [{ file, title: 'did not finish', message: 'Its worker may have died.' }, ...hooks] : hooks;
}

/** The stack, followed by those of its causes. */
function readText({ stack, message, cause }: RunError): string {
  const text = stack?.includes(message) === true ? stack : [message, stack].join('\n');
  return cause === undefined ? text : `${text}\nCaused by: ${readText(cause)}`;
}
