/** Second factors of the tests: the codes of an authenticator app, and an authenticator for passkeys. */
import type { APIRequestContext, Page } from '@playwright/test';
import { generate } from 'otplib';
import type { SeededAccount } from './accounts.ts';
import { expect } from './test.ts';

const STEP_SECONDS = 30;

/**
 * A code of an authenticator app. The server accepts each time step once, and one step before and after the current.
 */
export const appCode = (secret: string, step: 0 | 1): Promise<string> =>
  generate({ secret, epoch: Math.floor(Date.now() / 1000) + step * STEP_SECONDS });

/**
 * Adds an authenticator app on the profile page, with the code of the current time step. A later sign-in takes the
 * code of the next step: both stay valid for at least 30 seconds. Returns the app's secret.
 */
export async function addApp(page: Page): Promise<string> {
  await page.getByRole('button', { name: 'Set up: Two-step verification' }).click();
  await page.getByRole('button', { name: 'Use an authenticator app' }).click();
  const picture = page.getByRole('img', { name: 'QR code for your authenticator app' });
  await expect(picture).toBeVisible();
  // The picture is an SVG in a data URL, which the content security policy must allow.
  await expect.poll(() => picture.evaluate((image: HTMLImageElement) => image.naturalWidth)).toBeGreaterThan(0);
  const secret = (await page.locator('code').textContent())!.replaceAll(' ', '');
  await page.getByLabel('Code from your authenticator app').fill(await appCode(secret, 0));
  await page.getByRole('button', { name: 'Turn on' }).click();
  await expect(page.getByRole('heading', { name: 'Keep your recovery codes' })).toBeVisible();
  return secret;
}

/**
 * Adds an authenticator app to a seeded account over HTTP, with the code of the current time step (see `addApp`). The
 * account that it returns has the session that has passed the second step.
 */
export async function seedApp(
  request: APIRequestContext,
  { person, session }: SeededAccount,
): Promise<{ account: SeededAccount; secret: string }> {
  const post = <Body>(path: string, data: object) => postToFactors<Body>(request, session, path, data);
  const enrolled = { factor_type: 'totp', friendly_name: 'app' };
  const { id, totp } = await post<{ id: string; totp: { secret: string } }>('', enrolled);
  const challenge = await post<{ id: string }>(`/${id}/challenge`, {});
  const answer = { challenge_id: challenge.id, code: await appCode(totp.secret, 0) };
  const raised = await post<SeededAccount['session']>(`/${id}/verify`, answer);
  return { account: { person, session: raised }, secret: totp.secret };
}

/** Creates recovery codes over HTTP for an account whose session has passed the second step. */
export async function seedRecoveryCodes(request: APIRequestContext, { session }: SeededAccount): Promise<string[]> {
  const { codes } = await postToFactors<{ codes: string[] }>(request, session, '/recovery-codes', {});
  return codes;
}

async function postToFactors<Body>(
  request: APIRequestContext,
  { access_token }: SeededAccount['session'],
  path: string,
  data: object,
): Promise<Body> {
  const headers = { authorization: `Bearer ${access_token}` };
  const answer = await request.post(`/auth/v1/factors${path}`, { headers, data });
  expect(answer.ok(), await answer.text()).toBe(true);
  return (await answer.json()) as Body;
}

/** A number that no other test uses. */
export const newNumber = (): string => `+4915123${Math.floor(100_000 + Math.random() * 900_000)}`;

/** The recovery codes that the page shows. */
export const readShownCodes = (page: Page): Promise<string[]> =>
  page.getByRole('list', { name: 'Recovery codes' }).getByRole('listitem').allTextContents();

/**
 * Adds an authenticator that answers every request at once. With `verifiesUser` it is built into the device and holds
 * passkeys. Without, it is a security key that has no PIN.
 */
export async function addAuthenticator(page: Page, { verifiesUser }: { verifiesUser: boolean }) {
  const devTools = await page.context().newCDPSession(page);
  await devTools.send('WebAuthn.enable');
  const { authenticatorId } = await devTools.send('WebAuthn.addVirtualAuthenticator', {
    options: {
      protocol: 'ctap2',
      transport: verifiesUser ? 'internal' : 'usb',
      hasResidentKey: verifiesUser,
      hasUserVerification: verifiesUser,
      isUserVerified: verifiesUser,
      automaticPresenceSimulation: true,
    },
  });
  return {
    listCredentials: async () => (await devTools.send('WebAuthn.getCredentials', { authenticatorId })).credentials,
  };
}
