/** Access tokens in Settings, and the page that connects a program (docs/specification/capture.md 2 and 4). */
import { exec } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { APIRequestContext, Page } from '@playwright/test';
import { isolate } from '#domain/isolate.ts';
import { items, today } from './support/journal.ts';
import { waitForMailedCode } from './support/sign-in.ts';
import { inBothThemes, expect, expectToast, test } from './support/test.ts';

const append = (request: APIRequestContext, token: string, text: string) =>
  request.post('/functions/v1/append-item', {
    headers: { authorization: `Bearer ${token}` },
    data: { text, date: today() },
  });

async function expectFits(page: Page): Promise<void> {
  await page.setViewportSize({ width: 360, height: 620 });
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(360);
  await page.setViewportSize({ width: 1280, height: 720 });
}

/** Runs the command of the settings in the folder of a project whose files are modules, up to the login itself. */
async function expectRuns(command: string): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'project-'));
  try {
    await writeFile(join(folder, 'package.json'), '{ "type": "module" }');
    const { stdout } = await promisify(exec)(command.replace(/ login$/, ' --help'), { cwd: folder });
    expect(stdout).toContain('login [SERVER]');
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

test('a token is made, copied, used and revoked', async ({ page, context, signUp, request, expectAccessible }) => {
  await context.grantPermissions(['clipboard-read', 'clipboard-write']);
  await signUp(page, { path: '/settings' });
  await page.getByRole('button', { name: 'Manage tokens' }).click();
  await expect(page.getByText('You have no tokens.')).toBeVisible();
  await expectRuns(await page.getByText(/^curl .* login$/).innerText());
  await expectFits(page);
  await page.getByRole('button', { name: 'New token' }).click();
  await expect(page.getByLabel('Name')).toBeFocused();
  await page.keyboard.press('Enter');
  await expect(page.getByText('Enter a name.')).toBeVisible();
  const name = 'A laptop with a rather long name that has to wrap somewhere';
  await page.getByLabel('Name').fill(name);
  await page.getByLabel('Add items to your days').uncheck();
  await page.keyboard.press('Enter');
  await expect(page.getByText('Choose what the token may do.')).toBeVisible();
  await page.getByLabel('Add items to your days').check();
  await inBothThemes(page, expectAccessible);
  await expectFits(page);
  await page.getByRole('button', { name: 'Make token' }).click();
  const shown = page.getByText(/^hforge_/);
  await expect(shown).toBeVisible();
  const token = await shown.innerText();
  await expectFits(page);
  await inBothThemes(page, expectAccessible);
  await page.getByRole('button', { name: 'Copy token' }).click();
  await expect(page.getByText('Copied')).toBeVisible();
  expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(token);
  expect((await append(request, token, 'Shipped it')).status()).toBe(200);
  await page.getByRole('button', { name: 'Done' }).click();
  await expect(page.getByText(token)).toHaveCount(0);

  const list = page.getByRole('list', { name: 'Your access tokens' });
  await expect(list.getByRole('listitem')).toHaveText([/A laptop.*Adds items.*Until/s]);
  await expectFits(page);
  await inBothThemes(page, expectAccessible);
  await page.getByRole('link', { name: 'Back to Journal' }).click();
  await expect(items(page)).toHaveText(['Shipped it']);

  await page.goBack();
  await page.getByRole('button', { name: 'Manage tokens' }).click();
  await list.getByRole('button', { name: 'Revoke' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Revoke' }).click();
  await expectToast(page, `Revoked: ${isolate(name)}.`);
  await expect(page.getByText('You have no tokens.')).toBeVisible();
  expect((await append(request, token, 'Too late')).status()).toBe(401);
});

async function startDevice(request: APIRequestContext): Promise<{ device_code: string; user_code: string }> {
  const form = { client_id: 'hustle on a laptop', scope: 'append read' };
  return (await request.post('/auth/v1/device/authorize', { form })).json();
}
const poll = (request: APIRequestContext, code: string) =>
  request.post('/auth/v1/device/token', {
    form: { grant_type: 'urn:ietf:params:oauth:grant-type:device_code', device_code: code },
  });

test('a program is connected by its code, and refused', async ({ page, signUp, request, expectAccessible }) => {
  const { device_code: code, user_code: shown } = await startDevice(request);
  await page.setViewportSize({ width: 320, height: 568 });
  await signUp(page, { path: `/connect?user_code=${shown}` });
  await expect(page.getByRole('button', { name: 'Allow' })).toBeVisible();
  await expect(page.getByRole('heading', { name: 'Connect a program' })).toBeInViewport();
  await expect(page.getByText(shown)).toBeVisible();
  await expect(page.getByText('hustle on a laptop')).toBeVisible();
  await expectFits(page);
  await inBothThemes(page, expectAccessible);
  expect((await poll(request, code)).status()).toBe(400);
  await page.getByRole('button', { name: 'Allow' }).click();
  await expect(page.getByText(/^Connected\./)).toBeVisible();
  const { access_token: token } = await (await poll(request, code)).json();
  expect((await append(request, token, 'From the terminal')).status()).toBe(200);

  await page.goto('/connect');
  const field = page.getByLabel('Code');
  await field.fill('nonsense');
  await page.keyboard.press('Enter');
  await expect(page.getByText('Enter the eight letters that the program shows.')).toBeVisible();
  await inBothThemes(page, expectAccessible);
  await field.fill(shown);
  await page.keyboard.press('Enter');
  await expect(page.getByText('This code is unknown, has expired or was already used.')).toBeVisible();
  await page.getByRole('button', { name: 'Enter another code' }).click();

  const other = await startDevice(request);
  await field.fill(other.user_code.toLowerCase().replace('-', ' '));
  await page.keyboard.press('Enter');
  await page.getByRole('button', { name: 'Refuse' }).click();
  await expect(page.getByText('Refused. Nothing was connected')).toBeVisible();
  expect(await (await poll(request, other.device_code)).json()).toMatchObject({ error: 'access_denied' });
});

test.describe('failures', () => {
  test.use({ expectedErrors: /status of 503/ });

  test('a failure keeps what was entered, and an older session is confirmed by mail', async ({
    page,
    accounts,
    openAs,
  }) => {
    const account = await accounts.create();
    const { email } = account.person;
    await accounts.ageSessions(email, 25);
    await openAs(page, account, '/settings');
    await page.route('**/auth/v1/tokens', (route) => route.fulfill({ status: 503, json: {} }), { times: 2 });
    await page.getByRole('button', { name: 'Manage tokens' }).click();
    await expect(page.getByText("Couldn't load your tokens. They still work.")).toBeVisible();
    await page.getByRole('button', { name: 'Try again' }).click();
    await page.getByRole('button', { name: 'New token' }).click();
    await page.getByLabel('Name').fill('Terminal');
    await page.getByRole('button', { name: 'Make token' }).click();
    const dialog = page.getByRole('dialog', { name: 'Confirm that it is you' });
    await dialog.getByLabel('Code from your email').fill(await waitForMailedCode(page, email, 1));
    await page.keyboard.press('Enter');
    await expect(page.getByText(/^hforge_/)).toBeVisible();
  });
});
