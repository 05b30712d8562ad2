/** Test fixture of /auth/v1: a server, real clients, raw requests and received mail. */
import { randomBytes, randomInt } from 'node:crypto';
import { once } from 'node:events';
import { request as httpRequest, type IncomingMessage } from 'node:http';
import { json } from 'node:stream/consumers';
import { createClient } from '@supabase/supabase-js';
import { expect, vi } from 'vitest';
import { signServiceToken } from '#server/auth/keys/service-token.ts';
import { loadSigningKeys } from '#server/auth/keys/signing-keys.ts';
import { createLog } from '#server/log.ts';
import { setUpWorld } from '../../support/set-up.ts';
import { startTestServer, type TestServer } from '../../support/start-server.ts';

export const PASSWORD = 'correct horse';
export const SIGN_IN_NOTICE = 'New sign-in to your journal';
/** The fields of a session's answer, sorted. */
export const SESSION_FIELDS = ['access_token', 'expires_at', 'expires_in', 'refresh_token', 'token_type', 'user'];
const NEW_ERROR_FORMAT = { 'X-Supabase-Api-Version': '2024-01-01' };

/** A number in E.164 form that no other test uses. */
export const newNumber = (): string => `+49151${String(randomInt(10 ** 8)).padStart(8, '0')}`;

export const newAddress = (): string => `user-${randomBytes(6).toString('hex')}@example.com`;

// oxlint-disable-next-line typescript/no-explicit-any -- bodies have many forms; each test asserts its own
export type WireBody = any;
type WireResponse = { status: number; headers: Headers; body: WireBody };

export type AuthWorld = TestServer & {
  /** The real client without storage. */
  client(): ReturnType<typeof createClient>;
  /** A token for the admin routes, as `npm run admin -- service-token` prints it. */
  serviceToken(): Promise<string>;
  /** The real client with a service token. */
  adminClient(): Promise<ReturnType<typeof createClient>>;
  /** A raw request to /auth/v1, by default with the new error format. */
  request(
    method: string,
    path: string,
    options?: { body?: unknown; token?: string; headers?: Record<string, string> },
  ): Promise<WireResponse>;
  /** A new confirmed account, and the tokens of its first session. Needs autoconfirm. */
  signUpUser(email?: string): Promise<{ email: string; id: string; access: string; refresh: string }>;
  /** Marks the address as proven, so that no mailed link or provider claims the account (accounts.md 17). */
  proveAddress(email: string): Promise<void>;
  /**
   * The newest mail to an address, once `count` have arrived. Sign-in notices do not count: they arrive beside the
   * mails of a request, in any order.
   */
  waitForMail(address: string, count?: number): Promise<ReturnType<TestServer['mailbox']['messagesTo']>[number]>;
  /** The newest mail to an address with this subject, once it has arrived. */
  waitForMailWith(subject: string, address: string): Promise<ReturnType<TestServer['mailbox']['messagesTo']>[number]>;
  /** The newest text message to a number, once `count` have arrived. */
  waitForText(
    phone: string,
    count?: number,
  ): Promise<ReturnType<NonNullable<TestServer['sms']>['control']['messages']>[number]>;
  /** Resolves once exactly `count` sign-in notices have arrived. Then lifts their limit of one an hour. */
  waitForSignInNotices(address: string, count: number): Promise<void>;
};

/** Repeats `read` until it does not throw, and returns its result. A loaded machine needs seconds to send a mail. */
export const waitUntilPassing = <Result>(read: () => Result | Promise<Result>): Promise<Result> =>
  vi.waitFor(read, { timeout: 15_000, interval: 20 });

export async function startAuthWorld(
  settings: Record<string, string> = {},
  options: { sms?: 'on'; passwords?: 'real'; logTo?: { write(line: string): void } } = {},
): Promise<AuthWorld> {
  const server = await startTestServer({ settings, ...options });

  const request: AuthWorld['request'] = async (method, path, { body, token, headers } = {}) => {
    const response = await fetch(`${server.url}/auth/v1${path}`, {
      method,
      redirect: 'manual',
      headers: {
        ...NEW_ERROR_FORMAT,
        ...(body === undefined ? {} : { 'Content-Type': 'application/json;charset=UTF-8' }),
        ...(token === undefined ? {} : { Authorization: `Bearer ${token}` }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    });
    const text = await response.text();
    const isJson = response.headers.get('content-type')?.includes('json') ?? false;
    return { status: response.status, headers: response.headers, body: isJson ? JSON.parse(text) : text };
  };

  const serviceToken = async (): Promise<string> => {
    const { auth, dataDir, publicUrl } = server.config;
    const { signingKeyFile } = auth;
    const { clock, database } = server;
    const keys = await loadSigningKeys({ signingKeyFile, dataDir, database, clock, log: createLog('error') });
    return (await signServiceToken(keys, { publicUrl, days: 1, now: clock.now() })).token;
  };
  const auth = { persistSession: false, autoRefreshToken: false };

  return {
    ...server,
    request,
    serviceToken,
    adminClient: async () => createClient(server.url, await serviceToken(), { auth }),
    client: () => createClient(server.url, server.config.publishableKey, { auth }),
    async signUpUser(email = newAddress()) {
      const { status, body } = await request('POST', '/signup', { body: { email, password: PASSWORD } });
      expect(status, JSON.stringify(body)).toBe(200);
      return { email, id: body.user.id, access: body.access_token, refresh: body.refresh_token };
    },
    async proveAddress(email) {
      const sql = 'update auth.users set email_proven_at = now() where email = $1';
      expect((await server.admin.query(sql, [email])).rowCount).toBe(1);
    },
    waitForMail: (address, count = 1) =>
      waitUntilPassing(() => {
        const messages = server.mailbox.messagesTo(address).filter(({ subject }) => subject !== SIGN_IN_NOTICE);
        expect(messages.length).toBeGreaterThanOrEqual(count);
        return messages[0]!;
      }),
    waitForMailWith: (subject, address) =>
      waitUntilPassing(() => {
        const mail = server.mailbox.messagesTo(address).find((message) => message.subject === subject);
        expect(mail, `no mail "${subject}"`).toBeDefined();
        return mail!;
      }),
    waitForText: (phone, count = 1) =>
      waitUntilPassing(() => {
        const messages = server.sms!.control.messages(phone);
        expect(messages.length).toBeGreaterThanOrEqual(count);
        return messages[0]!;
      }),
    async waitForSignInNotices(address, count) {
      await waitUntilPassing(() => {
        const notices = server.mailbox.messagesTo(address).filter(({ subject }) => subject === SIGN_IN_NOTICE);
        expect(notices).toHaveLength(count);
      });
      await server.admin.query('update auth.users set new_device_notice_sent_at = null where email = $1', [address]);
    },
  };
}

export const setUpAuthWorld = (...args: Parameters<typeof startAuthWorld>): AuthWorld =>
  setUpWorld(() => startAuthWorld(...args));

/**
 * Sends a request without the last byte of its body, so that the server waits for it. `finish` sends the byte and
 * returns the answer.
 */
export async function openRequest(
  world: Pick<AuthWorld, 'url'>,
  method: string,
  path: string,
  { token, body }: { token: string; body: unknown },
) {
  const text = JSON.stringify(body);
  const headers = {
    ...NEW_ERROR_FORMAT,
    Authorization: `Bearer ${token}`,
    'Content-Type': 'application/json',
    'Content-Length': Buffer.byteLength(text),
    // Node answers "100 Continue" right before it calls the request listener, which then waits for the body.
    Expect: '100-continue',
  };
  const request = httpRequest(`${world.url}/auth/v1${path}`, { method, headers });
  request.flushHeaders();
  await once(request, 'continue');
  request.write(text.slice(0, -1));
  return {
    async finish(): Promise<{ status: number; body: WireBody }> {
      request.end(text.slice(-1));
      const [response] = (await once(request, 'response')) as [IncomingMessage];
      return { status: response.statusCode!, body: await json(response) };
    },
  };
}

/** The `token_hash` that the first link of a mail carries. */
export const tokenHashIn = (mail: { links: string[] }): string =>
  new URL(mail.links[0]!).searchParams.get('token_hash')!;
