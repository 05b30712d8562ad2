/**
 * Helpers for tests of accounts: sessions that end, mails and texts with their codes, the consent page of a provider,
 * and second factors.
 */
import type { APIRequestContext, Page, Locator } from '@playwright/test';
import { totpCode } from '../../support/totp-code.ts';
import { sessionStorageKey } from '#client/lib/session/storage-keys.ts';
import type { SeededAccount } from './accounts.ts';
import { sessionOf, type Session } from './journal.ts';
import { expect, type Person } from './test.ts';

/** Signs in over HTTP, outside the page. Fails if the server refuses the password. */
export async function signInByPassword(
  request: APIRequestContext,
  { email, password }: Pick<Person, 'email' | 'password'>,
): Promise<Session> {
  const answer = await request.post('/auth/v1/token?grant_type=password', { data: { email, password } });
  expect(answer.status(), await answer.text()).toBe(200);
  return (await answer.json()) as Session;
}

/** Sends the form of the sign-in page. */
export async function enterPassword(
  page: Page,
  { email, password }: { email: string; password: string },
): Promise<void> {
  await page.getByLabel('Email address').fill(email);
  await page.getByLabel('Password').fill(password);
  await page.getByRole('button', { name: 'Sign in', exact: true }).click();
}

/** Asks for the sign-in over the page when the session has expired. */
export const signInOverlay = (page: Page): Locator => page.getByRole('dialog', { name: 'Sign in again' });

/** Makes the next token refresh fail for good, as after the session has ended elsewhere. */
export async function endSession(page: Page): Promise<void> {
  await page.evaluate((key) => {
    const session = JSON.parse(localStorage.getItem(key)!) as Record<string, unknown>;
    localStorage.setItem(key, JSON.stringify({ ...session, expires_at: 1, refresh_token: 'ended' }));
    document.dispatchEvent(new Event('visibilitychange', { bubbles: true }));
  }, sessionStorageKey(page.url()));
}

/** Waits until the page stores a session of this user. */
export const expectSessionOf = (page: Page, email: string): Promise<void> =>
  expect.poll(async () => (await sessionOf(page)).user.email).toBe(email);

/**
 * Everything in this tab that could retain a link's tokens: the address, both storages, the state of the history entry.
 */
export const tracesOf = (page: Page): Promise<string> =>
  page.evaluate(() => JSON.stringify([location.href, localStorage, sessionStorage, history.state]));

/** The content of localStorage, sessionStorage and every IndexedDB database, with the names of the databases. */
export const readAllStorage = (page: Page): Promise<string> =>
  page.evaluate(async () => {
    const settled = <T>(request: IDBRequest<T>): Promise<T> =>
      new Promise((resolve, reject) => {
        request.addEventListener('success', () => resolve(request.result));
        request.addEventListener('error', () => reject(request.error!));
      });
    const databases: unknown[] = [];
    for (const { name = '' } of await indexedDB.databases()) {
      const database = await settled(indexedDB.open(name));
      for (const store of database.objectStoreNames) {
        databases.push([name, store, await settled(database.transaction(store).objectStore(store).getAll())]);
      }
      database.close();
      // Opening a database that was deleted meanwhile creates an empty one.
      if (database.objectStoreNames.length === 0) indexedDB.deleteDatabase(name);
    }
    return JSON.stringify([Object.entries(localStorage), Object.entries(sessionStorage), databases]);
  });

/** Signs in at the provider with an account of this address. */
export async function consentAt(page: Page, provider: string, email: string): Promise<void> {
  // Waits for the consent page, because the sign-in page and the profile page have an email field too.
  await expect(page.getByRole('heading', { name: `Sign in with ${provider}` })).toBeVisible();
  await page.getByLabel('Email address').fill(email);
  await page.getByRole('button', { name: 'Continue with this address' }).click();
}

const STEP_MS = 30_000;

/**
 * A code of an authenticator app. The server accepts each time step once, and one step before and after the current.
 */
export const appCode = (secret: string, step: 0 | 1): string => totpCode(secret, Date.now() + step * STEP_MS);

/** Starts to set up an authenticator app on the profile page, and returns its secret. */
export async function startApp(page: Page): Promise<string> {
  await page.getByRole('button', { name: 'Set up: Two-step verification' }).click();
  await page.getByRole('button', { name: 'Use an authenticator app' }).click();
  const picture = page.getByRole('img', { name: 'QR code for your authenticator app' });
  await expect(picture).toBeVisible();
  // The picture is an SVG in a data URL, which the content security policy must allow.
  await expect.poll(() => picture.evaluate((image: HTMLImageElement) => image.naturalWidth)).toBeGreaterThan(0);
  return (await page.locator('code').textContent())!.replaceAll(' ', '');
}

/**
 * Adds an authenticator app on the profile page, with the code of the current time step. A later sign-in takes the
 * code of the next step: both stay valid for at least 30 seconds. Returns the app's secret.
 */
export async function addApp(page: Page): Promise<string> {
  const secret = await startApp(page);
  await page.getByLabel('Code from your authenticator app').fill(appCode(secret, 0));
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
  const answer = { challenge_id: challenge.id, code: appCode(totp.secret, 0) };
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

type Mail = { to: string; subject: string; links: string[]; code: string | null };

/** Polls until `count` mails to `address` match, and returns the newest. */
async function waitForMail(page: Page, address: string, matches: (mail: Mail) => boolean, count = 1): Promise<Mail> {
  let found: Mail[] = [];
  await expect(async () => {
    const answer = await page.request.get(`/sandbox/mail/messages?to=${encodeURIComponent(address)}`);
    found = ((await answer.json()) as Mail[]).filter(matches);
    expect(found.length, `mails to ${address}`).toBeGreaterThanOrEqual(count);
  }).toPass({ timeout: 30_000 });
  return found[0]!;
}

/** Waits for a mail with a link that carries a token of this type, and returns the link. */
export async function waitForMailedLink(
  page: Page,
  address: string,
  type: 'signup' | 'recovery' | 'magiclink' | 'email_change',
): Promise<string> {
  const isLink = (link: string) => link.includes('token_hash=') && link.includes(`type=${type}`);
  const mail = await waitForMail(page, address, ({ links }) => links.some(isLink));
  return mail.links.find(isLink)!;
}

/** Waits for the mail that offers to keep an account, and returns the link. */
export async function waitForUndoLink(page: Page, address: string): Promise<string> {
  const isLink = (link: string) => link.includes('/undo-deletion?token_hash=');
  const mail = await waitForMail(page, address, ({ links }) => links.some(isLink));
  return mail.links.find(isLink)!;
}

/** Waits for the `count`th mail with a code, and returns the code of the newest. */
export async function waitForMailedCode(page: Page, address: string, count = 1): Promise<string> {
  const mail = await waitForMail(page, address, ({ code }) => code !== null, count);
  return mail.code!;
}

/** Waits for the `count`th text to a number, and returns the code of the newest. */
export async function waitForTextedCode(page: Page, phone: string, count = 1): Promise<string> {
  let texts: { code: string | null }[] = [];
  await expect(async () => {
    const answer = await page.request.get(`/sandbox/sms/messages?to=${encodeURIComponent(phone)}`);
    texts = (await answer.json()) as { code: string | null }[];
    expect(texts.length, `texts to ${phone}`).toBeGreaterThanOrEqual(count);
  }).toPass({ timeout: 30_000 });
  return texts[0]!.code!;
}
