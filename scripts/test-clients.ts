/**
 * `npm run test:clients`: published clients of other languages sign in, save and administrate. Not part of `npm test`,
 * because it installs them, below `node_modules/.cache/clients`.
 */
import { spawnSync } from 'node:child_process';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { runTool } from './child-processes.ts';
import { exitWithParent } from './lifecycle/exit-with-parent.mjs';
import { ROOT } from './project.ts';
import { summaryLine, vitestResult } from './test-results.ts';

exitWithParent();

const sources = (...path: string[]): string => join(ROOT, 'tests', 'clients', ...path);
const cache = (...path: string[]): string => join(ROOT, 'node_modules', '.cache', 'clients', ...path);
const python =
  process.platform === 'win32' ? cache('python', 'Scripts', 'python.exe') : cache('python', 'bin', 'python');

type Command = readonly [program: string, ...args: string[]];
/** `steps` install and build the client, and `run` is what the tests start. */
type Client = { language: string; tool: string; steps: readonly Command[]; run: Command };

const CLIENTS: readonly Client[] = [
  {
    language: 'Python',
    tool: 'python3',
    steps: [
      ['python3', '-m', 'venv', cache('python')],
      [
        python,
        '-m',
        'pip',
        'install',
        '--quiet',
        '--disable-pip-version-check',
        '-r',
        sources('python', 'requirements.txt'),
      ],
    ],
    run: [python, sources('python', 'client.py')],
  },
  {
    language: 'Go',
    tool: 'go',
    steps: [['go', '-C', sources('go'), 'build', '-o', cache('go', 'client'), '.']],
    run: [cache('go', 'client')],
  },
  {
    language: 'Rust',
    tool: 'cargo',
    steps: [
      [
        'cargo',
        'build',
        '--locked',
        '--quiet',
        '--manifest-path',
        sources('rust', 'Cargo.toml'),
        '--target-dir',
        cache('rust'),
      ],
    ],
    run: [cache('rust', 'debug', 'client')],
  },
];

const succeeds = ([program, ...args]: Command, stdio: 'ignore' | 'inherit'): boolean =>
  spawnSync(program, args, { stdio }).status === 0;

await mkdir(cache(), { recursive: true });
const ready: Record<string, Command> = {};
let failedInstalls = 0;
for (const { language, tool, steps, run } of CLIENTS) {
  const versionOption = tool === 'go' ? 'version' : '--version';
  if (!succeeds([tool, versionOption], 'ignore')) {
    process.stdout.write(`Skipping ${language}: install ${tool}\n`);
    continue;
  }
  process.stdout.write(`Installing the client for ${language}…\n`);
  if (steps.every((step) => succeeds(step, 'inherit'))) ready[language] = run;
  else failedInstalls += 1;
}

const report = join(ROOT, 'test-results', 'clients.json');
await mkdir(join(ROOT, 'test-results'), { recursive: true });
const ok =
  Object.keys(ready).length > 0 &&
  (await runTool(
    'vitest',
    [
      ...['run', '--config', 'tests/clients/vitest.config.ts'],
      ...['--reporter=verbose', '--reporter=json', `--outputFile.json=${report}`],
    ],
    { TEST_CLIENTS: JSON.stringify(ready) },
  ));
const result = await vitestResult(report, ok);
process.stdout.write(`\n${summaryLine([result, { passed: 0, failed: failedInstalls, skipped: 0 }])}\n`);
process.exit(result.failed + failedInstalls > 0 ? 1 : 0);
