/** Bodies that cost a client without an account little and the server much (docs/specification/limits.md 6). */
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ROUTES } from '#server/auth/routes.ts';
import { openRequest, PASSWORD, startAuthWorld, type AuthWorld } from './fixture.ts';

let world: AuthWorld;
let limited: AuthWorld;
beforeAll(async () => {
  [world, limited] = await Promise.all([
    startAuthWorld(),
    startAuthWorld({ AUTH_RATE_LIMITS: 'on', CLIENT_ADDRESS_HEADER: 'X-Real-Ip' }),
  ]);
});
afterAll(() => Promise.all([world.close(), limited.close()]));

const MEGABYTE = 1_048_576;
const FORM = 'application/x-www-form-urlencoded';

/** Sends the headers of a request, and returns its socket. */
function begin({ url }: AuthWorld, path: string, headers: readonly string[]): Socket {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  socket.write(['POST ' + path + ' HTTP/1.1', 'Host: localhost', ...headers, '', ''].join('\r\n'));
  return socket;
}

async function statusOf(socket: Socket): Promise<number> {
  const [response] = (await once(socket, 'data')) as [Buffer];
  socket.destroy();
  return Number(response.toString().split(' ')[1]);
}

/** Sends a text as chunks of one byte, and waits while the server reads slowly. */
async function sendByByte(socket: Socket, text: string): Promise<void> {
  const STEP = 10_000;
  socket.on('error', () => undefined);
  for (let at = 0; at < text.length && !socket.destroyed; at += STEP) {
    const chunks = Array.from(text.slice(at, at + STEP), (character) => `1\r\n${character}\r\n`).join('');
    if (!socket.write(chunks)) await Promise.race([once(socket, 'drain'), once(socket, 'close')]);
  }
  socket.write('0\r\n\r\n');
}

test('bodies that arrive byte by byte are refused and take no memory', async () => {
  const before = process.memoryUsage().heapUsed;
  let highest = before;
  const sampling = setInterval(() => (highest = Math.max(highest, process.memoryUsage().heapUsed)), 5);
  const text = JSON.stringify({ email: 'not an address', password: 'x'.repeat(600_000) });
  const statuses = await Promise.all(
    Array.from({ length: 4 }, async () => {
      const headers = ['Content-Type: application/json', 'Transfer-Encoding: chunked'];
      const socket = begin(world, '/auth/v1/signup', headers);
      const [status] = await Promise.all([statusOf(socket), sendByByte(socket, text)]);
      return status;
    }),
  );
  clearInterval(sampling);
  expect(statuses).toEqual([400, 400, 400, 400]);
  expect(highest - before).toBeLessThan(100 * MEGABYTE);
  expect((await fetch(`${world.url}/healthz`)).status).toBe(200);
});

const FORM_PATHS = ['/verify/continue', '/account/undo-deletion', '/callback'];

test.each(FORM_PATHS)('the form of %s holds 20 fields and 16 KB at most', async (path) => {
  const send = (body: string) => world.request('POST', path, { body, headers: { 'Content-Type': FORM } });
  const fields = (count: number): string => Array.from({ length: count }, (_, index) => `a${index}=`).join('&');
  expect((await send(fields(20))).body.message).not.toBe('The form holds more than 20 fields');
  for (const tooMany of [fields(21), '&'.repeat(16_000)]) {
    const { status, body } = await send(tooMany);
    expect([status, body.code, body.message]).toEqual([400, 'validation_failed', 'The form holds more than 20 fields']);
  }
  const { status, body } = await send(`token=${'x'.repeat(16 * 1024)}`);
  expect([status, body.code]).toEqual([413, 'request_entity_too_large']);
});

test.each([
  ['/callback', 60, 303],
  ['/verify/continue', 30, 303],
  ['/account/undo-deletion', 30, 429],
])('the rate limit of %s is spent before the body arrives', async (path, budget, expected) => {
  const client = `192.0.2.${FORM_PATHS.indexOf(path) + 1}`;
  const headers = [`Content-Type: ${FORM}`, 'Content-Length: 100', `X-Real-Ip: ${client}`];
  const sockets = Array.from({ length: budget + 1 }, () => begin(limited, `/auth/v1${path}`, headers));
  expect(await Promise.race(sockets.map(statusOf))).toBe(expected);
  for (const socket of sockets) socket.destroy();
});

const ofSignedInCallers = ROUTES.filter(
  ({ policy: { caller, body, laterBody } }) =>
    (caller === 'user' || caller === 'member' || caller === 'linking user') && (body ?? laterBody) !== undefined,
);

test.each(ofSignedInCallers.map(({ method, path }) => [method, path]))(
  '%s %s refuses a body that arrives after its session has ended',
  async (method, path) => {
    const { email, access } = await world.signUpUser();
    const signedIn = await world.request('POST', '/token?grant_type=password', { body: { email, password: PASSWORD } });
    const token = signedIn.body.access_token as string;
    const factor = await world.request('POST', '/factors', { token, body: { factor_type: 'totp' } });
    const open = await openRequest(world, method, path.replace(':id', factor.body.id), { token, body: {} });
    // The same connection pool answers in turn: the open request has been authenticated by then.
    expect((await world.request('GET', '/user', { token })).status).toBe(200);
    expect((await world.request('POST', '/logout?scope=others', { token: access })).status).toBe(204);
    expect(await open.finish()).toMatchObject({ status: 403, body: { code: 'session_not_found' } });
  },
);
