/**
 * The program `hustle` as a user downloads it, and the journal that is open beside it (docs/specification/capture.md
 * 6).
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { editor, items, openDay, today } from './support/journal.ts';
import { expect, test } from './support/test.ts';

// Live updates start in idle time.
test.use({ isIdle: true });

test('the program is downloaded, connected in the browser, and adds to the open journal', async ({
  page,
  request,
  signUp,
}) => {
  const home = await mkdtemp(join(tmpdir(), 'hustle-'));
  try {
    // Without an ending, as a user calls it.
    const program = join(home, 'hustle');
    await writeFile(program, await (await request.get('/cli/hustle.cjs')).body());
    const start = (...args: string[]) =>
      spawn(process.execPath, [program, ...args], {
        env: { HOME: home, LOCALAPPDATA: home },
        stdio: ['ignore', 'pipe', 'pipe'],
      });
    const run = async (...args: string[]): Promise<string> => {
      const child = start(...args);
      const output = await Promise.all([text(child.stdout), text(child.stderr)]);
      return output.join('');
    };

    await signUp(page);
    await editor(page).pressSequentially('Written here');
    const login = start('login');
    const [printed] = (await once(login.stderr, 'data')) as [Buffer];
    const [, address, code] = /Open (\S+)\n.*code: (\S+)/s.exec(printed.toString())!;
    const connecting = await page.context().newPage();
    await connecting.goto(address!);
    await expect(connecting.getByText(code!)).toBeVisible();
    await connecting.getByRole('button', { name: 'Allow' }).click();
    await expect(connecting.getByText(/^Connected\./)).toBeVisible();
    expect(await text(login.stdout)).toMatch(/^Connected to /);
    await connecting.close();

    expect(await run('Shipped', 'it')).toMatch(/^Added to /);
    await expect(items(page)).toHaveText(['Written here', 'Shipped it']);
    await openDay(page, today());
    await expect(items(page)).toHaveText(['Written here', 'Shipped it']);
    expect(await run('today')).toContain('1. Written here\n2. Shipped it\n');
    expect(await run('logout')).toContain('The token has ended.');
  } finally {
    await rm(home, { recursive: true, force: true });
  }
});
