/** The command line of all admin commands. The tests of the commands stand beside them. */
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, test } from 'vitest';
import { EMAIL, setUpAdmin, type CommandResult } from '../../tests/support/commands/admin-commands.ts';

const world = setUpAdmin();

/** Runs a command as the operator does: in a process of its own, with settings from the process's environment. */
async function adminProcess(...args: string[]): Promise<CommandResult> {
  const env = world.environment();
  const run = promisify(execFile)(process.execPath, [join(import.meta.dirname, 'admin.ts'), ...args], { env });
  return run.then(
    ({ stdout, stderr }) => ({ code: 0, stdout, stderr }),
    (error: CommandResult) => error,
  );
}

describe('as a process', () => {
  test.each([
    [['plan:grant', EMAIL], /^ada@example\.com is a Closer without end\.\n$/],
    [['key:rotate', '--print'], /^\{\n[^]*\n\}\n$/],
  ] as const)('%j prints its result alone', async (args, words) => {
    await world.admin('service-token');
    expect(await adminProcess(...args)).toEqual({ code: 0, stdout: expect.stringMatching(words), stderr: '' });
  });

  test.each([
    [['plan:grants', EMAIL], /^There is no command "plan:grants"\.\nCommands:\n {2}user:show/],
    [['plan:grant', 'nobody@example.com'], /^There is no account with the address nobody@example\.com\.\n$/],
  ] as const)('%j prints why it fails, without a stack', async (args, words) => {
    expect(await adminProcess(...args)).toMatchObject({ code: 1, stdout: '', stderr: expect.stringMatching(words) });
  });
});

test.each([
  [[], 'Commands:'],
  [['plan:grant'], 'Usage: npm run admin -- plan:grant ADDRESS [--days N]\n'],
  [['plan:grant', EMAIL, 'more'], 'Usage: npm run admin -- plan:grant ADDRESS [--days N]\n'],
  [['plan:grants', EMAIL], 'There is no command "plan:grants".\n'],
  [['key:create', EMAIL], 'Usage: npm run admin -- key:create\n'],
  [['plan:revoke', EMAIL, '--days', '3'], 'plan:revoke takes no --days'],
  [['service-token', '--days', '367'], '--days must be a whole number from 1 to 366'],
  [['plan:grant', EMAIL, '--years', '1'], '--years'],
  [['plan:grant', EMAIL, '--days', '0'], '--days must be a whole number'],
  [['plan:grant', 'nobody@example.com'], 'There is no account with the address nobody@example.com.'],
])('%j is refused in words', async (args, words) => {
  const { code, stderr } = await world.admin(...args);
  expect(code).toBe(1);
  expect(stderr).toContain(words);
});

test('migrations:finish says that nothing is left', async () => {
  expect((await world.admin('migrations:finish')).stdout).toBe('No migration is left to apply.\n');
});

test('help lists every command', async () => {
  const { stdout } = await world.admin('help');
  for (const command of ['plan:grant', 'refund', 'key:rotate']) expect(stdout).toContain(`  ${command} `);
});
