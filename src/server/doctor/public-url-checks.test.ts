/** Checks of PUBLIC_URL with proxies that change requests and answers. */
import { writeFile } from 'node:fs/promises';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import 'reflect-metadata';
import { afterEach, beforeAll, expect, test, vi } from 'vitest';
import { createProbeAccess } from './doctor-command.ts';
import { describeOffset } from './check.ts';
import { publicUrlChecks, type ProbeAccess } from './public-url-checks.ts';
import { configOf, lines, run, unreachableUrl, withStub } from '../../../tests/support/commands/doctor-checks.ts';
import { startTestServer } from '../../../tests/support/start-server.ts';
import { setUpWorld } from '../../../tests/support/set-up.ts';
import { answer, type StubHandler } from '../../../tests/support/stub-server.ts';

const world = setUpWorld(startTestServer);
let unreachable: string;
beforeAll(async () => {
  unreachable = await unreachableUrl();
});
afterEach(() => vi.restoreAllMocks());

const now = (): Date => new Date();

/** A self-signed certificate for a name, valid for a year. */
async function newCertificate(name: string): Promise<{ key: string; cert: string }> {
  const { X509CertificateGenerator } = await import('@peculiar/x509');
  const algorithm = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' };
  const keys = await crypto.subtle.generateKey(algorithm, true, ['sign', 'verify']);
  const certificate = await X509CertificateGenerator.createSelfSigned({
    name: `CN=${name}`,
    notBefore: new Date(Date.now() - 86_400_000),
    notAfter: new Date(Date.now() + 365 * 86_400_000),
    signingAlgorithm: algorithm,
    keys,
  });
  const pkcs8 = Buffer.from(await crypto.subtle.exportKey('pkcs8', keys.privateKey)).toString('base64');
  return {
    key: `-----BEGIN PRIVATE KEY-----\n${pkcs8}\n-----END PRIVATE KEY-----\n`,
    cert: certificate.toString('pem'),
  };
}

type Names = 'url' | 'certificate' | 'redirect' | 'headers' | 'proxy';
async function checkUrl(name: Names, PUBLIC_URL: string, env: Record<string, string> = {}): Promise<string[]> {
  const config = configOf({ DATA_DIR: world.config.dataDir, PUBLIC_URL, ...env });
  const access = createProbeAccess(
    { ...config, publicUrl: world.config.publicUrl },
    { url: world.databaseUrl, problem: null },
  );
  return lines(await run(publicUrlChecks(config, access, now).find((check) => check.name === name)!));
}

/** A proxy in front of the server that changes requests and answers. */
const proxy =
  (change: {
    buffer?: boolean;
    maxBodyBytes?: number;
    headers?: Record<string, string>;
    drop?: string;
    forward?: Record<string, string>;
  }): StubHandler =>
  ({ method, path, headers, body }, response) => {
    if (body.length > (change.maxBodyBytes ?? Infinity)) return answer(response, 413, '<h1>413</h1>');
    const { host: _host, connection: _connection, ...rest } = headers as Record<string, string>;
    const init = { method, headers: { ...rest, ...change.forward }, redirect: 'manual' as const };
    void fetch(world.url + path, method === 'GET' ? init : { ...init, body }).then(async (reply) => {
      const kept = [...reply.headers].filter(
        ([name]) => name !== change.drop && name !== 'content-encoding' && name !== 'content-length',
      );
      response.writeHead(reply.status, { ...Object.fromEntries(kept), ...change.headers });
      if (change.buffer) response.end(Buffer.from(await reply.arrayBuffer()));
      else {
        for await (const chunk of reply.body ?? []) response.write(chunk);
        response.end();
      }
    });
  };

test.each(['url', 'certificate'] as const)(
  '%s sends the operator of an unknown name to PUBLIC_URL and DNS',
  async (name) => {
    const config = configOf({ PUBLIC_URL: 'https://journal.invalid', SANDBOX: 'off' });
    const check = publicUrlChecks(config, () => Promise.reject(new Error()), now).find((one) => one.name === name)!;
    expect(await run(check)).toMatchObject([{ status: 'fault', fix: expect.stringContaining('PUBLIC_URL and DNS') }]);
  },
);

test('the check "url" names another program, a broken proxy, a redirect and a wrong clock', async () => {
  expect((await checkUrl('url', world.config.publicUrl))[0]).toMatch(/^ok .* and is ready$/);
  const answers: [StubHandler, RegExp][] = [
    [(_request, response) => answer(response, 200, 'hello'), /^fault .* answers 200$/],
    [(_request, response) => answer(response, 502), /^fault .* answers 502: the proxy does not reach the server$/],
    [
      (_request, response) => answer(response, 301, '', { Location: 'https://a.example' }),
      /^fault .* redirects to https:\/\/a\.example$/,
    ],
    [
      ({ path }, response) => answer(response, path === '/readyz' ? 503 : 200, { status: 'up' }),
      /^fault .* is up but not ready \(503\)$/,
    ],
    [(_request, response) => response.destroy(), /^fault .*: it closed the connection$/],
  ];
  for (const [handler, expected] of answers) {
    await withStub(handler, async (url) => expect((await checkUrl('url', url))[0]).toMatch(expected));
  }
  await withStub(
    (_request, response) =>
      answer(response, 200, { status: 'up' }, { Date: new Date(Date.now() - 60_000).toUTCString() }),
    async (url) =>
      expect((await checkUrl('url', url))[1]).toMatch(/^fault the clock of .* is (59|60)\.\d s behind this machine/),
  );
});

test('the check "headers" names the headers that a proxy removes or sets twice', async () => {
  expect(await checkUrl('headers', world.config.publicUrl)).toEqual([
    'ok the security headers arrive as they were sent',
  ]);
  const change = { drop: 'referrer-policy', headers: { 'X-Frame-Options': 'SAMEORIGIN' } };
  await withStub(proxy(change), async (url) =>
    expect(await checkUrl('headers', url)).toEqual([
      'warning the proxy changes the security headers: Referrer-Policy is missing, X-Frame-Options is sent twice',
    ]),
  );
});

test('the check "proxy" names buffering, a host that is not forwarded, another key and another database', async () => {
  await withStub(proxy({ buffer: true }), async (url) => {
    const found = await checkUrl('proxy', url);
    expect(found[0]).toBe(`ok ${url} is this installation`);
    expect(found[1]).toMatch(/^warning the proxy sends the host/);
    expect(found[2]).toMatch(/^warning the proxy holds events back/);
  });
  await withStub(proxy({ forward: { authorization: 'Bearer nonsense' } }), async (url) =>
    expect((await checkUrl('proxy', url))[0]).toBe(`fault ${url} does not accept our signing key`),
  );
  const other = JSON.stringify({ address: '1.2.3.4', host: 'h', database: 'another' });
  await withStub(
    (_request, response) =>
      answer(response, 200, `event: connection\ndata: ${other}\n\n`, { 'Content-Type': 'text/event-stream' }),
    async (url) => expect((await checkUrl('proxy', url))[0]).toBe(`fault ${url} serves another database than this one`),
  );
});

test('the check "proxy" names a proxy that refuses the body of an import', async () => {
  const limit = /refuses bodies of 3\.4 MB/;
  await withStub(proxy({ maxBodyBytes: 1024 * 1024 }), async (url) =>
    expect((await checkUrl('proxy', url)).at(-1)).toMatch(limit),
  );
  await withStub(proxy({}), async (url) => expect((await checkUrl('proxy', url)).join()).not.toMatch(limit));
});

test('the check "proxy" gives no rights to a stranger who answers at the address', async () => {
  const received: string[] = [];
  await withStub(
    ({ headers }, response) => {
      received.push(headers.authorization!);
      answer(response, 404);
    },
    (url) => checkUrl('proxy', url),
  );
  const use = async (path: string) =>
    (await fetch(world.url + path, { headers: { Authorization: received[0]! } })).status;
  expect(await use('/auth/v1/admin/users')).toBe(403);
  expect(await use('/auth/v1/admin/audit')).toBe(403);
  expect(await use('/auth/v1/user')).toBe(403);
  expect(await use('/auth/v1/admin/connection')).toBe(200);
});

test('the check "proxy" names an address header that anybody can forge', async () => {
  const [asSent, replaced] = await Promise.all(
    [(sent: string) => sent, () => '198.51.100.7'].map((addressOf) =>
      withStub(
        ({ headers }, response) => {
          const { authorization, 'x-forwarded-for': sent } = headers;
          const init = { headers: { Authorization: authorization! } };
          void fetch(`${world.url}/auth/v1/admin/connection`, init).then(async (reply) => {
            const text = await reply.text();
            const address = addressOf(String(sent));
            answer(response, 200, text.replace(/"address":"[^"]*"/, `"address":"${address}"`));
          });
        },
        (url) => checkUrl('proxy', url, { CLIENT_ADDRESS_HEADER: 'X-Forwarded-For' }),
      ),
    ),
  );
  expect(asSent).toContainEqual(
    expect.stringMatching(/^fault anybody can forge an address: the proxy passes x-forwarded-for on/),
  );
  expect(replaced).toContain('ok the proxy sends the address of the client in x-forwarded-for');
});

test('the check "certificate" names an unencrypted, a self-signed and an expired one, and an address without TLS', async () => {
  expect(await checkUrl('certificate', 'http://journal.example.com')).toEqual([
    'fault http://journal.example.com is not encrypted',
  ]);
  expect((await checkUrl('certificate', world.config.publicUrl))[0]).toMatch(/^off /);
  const server = createServer(await newCertificate('localhost'), (_request, response) => response.end());
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  try {
    const url = `https://localhost:${(server.address() as AddressInfo).port}`;
    expect(await checkUrl('certificate', url)).toEqual([
      'fault browsers refuse the certificate: its certificate is self-signed',
    ]);
    const config = configOf({ PUBLIC_URL: url });
    const late = () => new Date('2150-01-01');
    const [finding] = await run(
      publicUrlChecks(config, () => Promise.reject(new Error()), late).find(({ name }) => name === 'certificate')!,
    );
    expect(finding!.text).toMatch(/^the certificate expired on /);
  } finally {
    server.close();
  }
  expect((await checkUrl('certificate', unreachable.replace('http', 'https')))[0]).toMatch(
    /^fault no TLS at .*nothing listens there/,
  );
  expect((await checkUrl('redirect', unreachable.replace('http', 'https')))[0]).toMatch(/^off /);
});

test('the check "certificate" warns two weeks before a trusted one expires', async () => {
  const certificate = await newCertificate('localhost');
  const server = createServer(certificate, (_request, response) => response.end());
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  const trusted = getCACertificates();
  setDefaultCACertificates([...trusted, certificate.cert]);
  try {
    const config = configOf({ PUBLIC_URL: `https://localhost:${(server.address() as AddressInfo).port}` });
    const check = async (days: number) => {
      const at = () => new Date(Date.now() + days * 86_400_000);
      const checks = publicUrlChecks(config, () => Promise.reject(new Error()), at);
      return lines(await run(checks.find(({ name }) => name === 'certificate')!));
    };
    expect(await check(0)).toEqual(['ok the certificate is valid for 364 days']);
    expect(await check(355)).toEqual(['warning the certificate expires in 9 days']);
  } finally {
    setDefaultCACertificates(trusted);
    server.close();
  }
});

/** Checks an address on the internet. */
async function checkJournal(name: Names, reply: Response | Error): Promise<string[]> {
  vi.spyOn(globalThis, 'fetch').mockImplementation(() =>
    reply instanceof Error ? Promise.reject(reply) : Promise.resolve(reply),
  );
  const access = (): Promise<ProbeAccess> => Promise.resolve({ token: 'x', database: 'ours' });
  const checks = publicUrlChecks(configOf({ PUBLIC_URL: 'https://journal.example.com' }), access, now);
  return lines(await run(checks.find((check) => check.name === name)!));
}

test.each([
  ['a redirect', new Response('', { status: 308, headers: { location: 'https://a.example/' } }), /^ok .* redirects to/],
  ['nothing', Object.assign(new Error('refused'), { code: 'ECONNREFUSED' }), /^ok nothing answers at http:/],
  ['a page', new Response('hello'), /^warning .* answers 200 instead of redirecting to https$/],
])('the check "redirect" judges %s at port 80', async (_what, reply, expected) => {
  expect(await checkJournal('redirect', reply)).toEqual([expect.stringMatching(expected)]);
});

test.each([
  ['that is cut off', 'event: connection\n', ['fault the proxy cut the answer off']],
  [
    'with the address of the proxy',
    'data: {"address":"10.0.0.1","host":"journal.example.com","database":"ours"}\n\n',
    [
      'ok https://journal.example.com is this installation',
      'warning all users seem to come from 10.0.0.1, so one can use up the limits of all',
      expect.stringMatching(/^warning the proxy holds events back/) as string,
    ],
  ],
])('the check "proxy" names an answer %s', async (_what, events, expected) => {
  expect(await checkJournal('proxy', new Response(events))).toEqual(expected);
});

test('the check "proxy" names signing keys that cannot be used', async () => {
  const file = join(world.config.dataDir, 'broken-key.json');
  await writeFile(file, '{}');
  const env = { DATA_DIR: world.config.dataDir, PUBLIC_URL: world.config.publicUrl, AUTH_SIGNING_KEY_FILE: file };
  const config = configOf(env);
  const found = await createProbeAccess(config, { url: world.databaseUrl, problem: null })();
  expect(found).toMatchObject({ status: 'fault', text: expect.stringMatching(/^the signing keys cannot be used/) });
});

test.each([
  [0, 10, 'ok'],
  [3_000, 10, 'warning'],
  [-3_000, 10, 'warning'],
  [3_000, 1_500, 'ok'],
  [40_000, 500, 'fault'],
])('a clock that is %i ms ahead, measured with an error of %i ms: %s', (offsetMs, errorMs, status) => {
  expect(describeOffset('the database', offsetMs, errorMs).status).toBe(status);
});
