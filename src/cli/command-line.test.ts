/** The command line on hostile machines, servers and texts. */
import { spawnSync } from 'node:child_process';
import { chmodSync, lstatSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { json } from 'node:stream/consumers';
import { describe, expect, onTestFinished, test } from 'vitest';
import { createMachine, type TestMachine } from '../../tests/support/command-line.ts';

const TOKEN = `hforge_${'A'.repeat(64)}`;
const OTHER_TOKEN = `hforge_${'B'.repeat(64)}`;

type Received = {
  path: string;
  authorization: string | undefined;
  key: string | undefined;
  body: Record<string, unknown>;
};
type Server = { url: string; received: Received[]; answer: (request: Received) => [status: number, body: unknown] };

/** Answers appends as the real server does, until a test says otherwise. */
async function startServer(): Promise<Server> {
  const server: Server = {
    url: '',
    received: [],
    answer: ({ body }) => [
      200,
      { success: true, outcome: 'appended', date: body['date'] ?? '2026-11-28', revision: 1 },
    ],
  };
  const respond = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const received: Received = {
      path: request.url!,
      authorization: request.headers.authorization,
      key: request.headers['idempotency-key'] as string | undefined,
      body: (await json(request)) as Record<string, unknown>,
    };
    server.received.push(received);
    const [status, body] = server.answer(received);
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
  };
  server.url = await listen((request, response) => void respond(request, response));
  return server;
}

async function listen(listener: RequestListener): Promise<string> {
  const server = createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const connected = (server: string, options: Parameters<typeof createMachine>[0] = {}) =>
  createMachine({ ...options, env: { HUSTLE_SERVER: server, HUSTLE_TOKEN: TOKEN, ...options.env } });

function storeConnection({ home }: TestMachine, server: string, mode = 0o600): string {
  const folder = join(home, '.config', 'hustle');
  mkdirSync(folder, { recursive: true });
  const path = join(folder, 'connection.json');
  writeFileSync(path, JSON.stringify({ server, token: TOKEN }));
  chmodSync(path, mode);
  return path;
}

const texts = ({ received }: Server): unknown[] =>
  received
    .filter(({ path, body }) => path === '/functions/v1/append-item' && 'text' in body)
    .map(({ body }) => body['text']);
const filesIn = ({ home }: TestMachine, folder: string): string[] => {
  try {
    return readdirSync(join(home, '.local', 'state', 'hustle', folder));
  } catch {
    return [];
  }
};

describe('arguments', () => {
  test.each([
    [['Shipped', 'it'], 'Shipped it'],
    [['Shipped it'], 'Shipped it'],
    [['add', 'week'], 'week'],
    [['--', '--date'], '--date'],
    [['--', 'today'], 'today'],
    [['--verbose logs are off now'], '--verbose logs are off now'],
    [['- a list marker'], '- a list marker'],
    [['add', '-5 degrees', 'outside'], '-5 degrees outside'],
    [['-5 degrees', '--date', '2026-11-27'], '-5 degrees'],
    [['-5 degrees', '--', '--date'], '-5 degrees --date'],
    [['Fixed', '--', '-v'], 'Fixed -v'],
    [['--date', '2026-11-27', 'Late', '🚀 entry'], 'Late 🚀 entry'],
    [['Late', '-d', '2026-11-27'], 'Late'],
    [['a\u001b[31mred\u0007'], 'a\u001b[31mred\u0007'],
    [['lone \ud800 half'], 'lone \ufffd half'],
  ])('%j adds %j', async (args, text) => {
    const server = await startServer();
    expect(await connected(server.url).run(...args)).toMatchObject({ exitCode: 0, stderr: '' });
    expect(texts(server)).toEqual([text]);
  });

  test.each([
    [['--verbose'], /no option|Unknown option/],
    [['status', 'page', 'is', 'fixed'], /To add the text, write: hustle add status page is fixed/],
    [['today', '--write'], /has no option --write/],
    [['--date', 'tomorrow', 'x'], /no date/],
    [['--date', '2026-02-30', 'x'], /no date/],
    [['x', '--date', '-5 degrees'], /^hustle: -5 degrees is no date/],
    [['tody'], /Did you mean "hustle today"/],
    [['logni'], /Did you mean "hustle login"/],
    [['find'], /hustle find WORDS/],
    [['login', 'journal'], /Say where your journal is/],
    [['week', '--json', '--markdown'], /Choose/],
    [['--date'], /argument missing/],
  ])('%j is refused', async (args, why) => {
    const server = await startServer();
    const env = args[0] === 'login' ? { HUSTLE_TOKEN: '' } : {};
    const { exitCode, stdout, stderr } = await connected(server.url, { env }).run(...args);
    expect({ exitCode, stdout }).toEqual({ exitCode: 64, stdout: '' });
    expect(stderr).toMatch(why);
    expect(server.received).toEqual([]);
  });

  test('without a text, a terminal gets the help', async () => {
    const { exitCode, stdout } = await createMachine().run();
    expect(exitCode).toBe(0);
    expect(stdout).toMatch(/^Usage: hustle TEXT/);
    for (const line of stdout.split('\n')) expect(line.length).toBeLessThanOrEqual(80);
  });
});

describe('a pipe', () => {
  test('adds each line, in parts that the server takes', async () => {
    const server = await startServer();
    const lines = Array.from({ length: 450 }, (_, index) => `Line ${index}`);
    expect(await connected(server.url).pipe(`\ufeff${lines.join('\r\n')}\r\n`)).toMatchObject({ exitCode: 0 });
    expect(texts(server)).toHaveLength(3);
    expect(texts(server).join('\n')).toBe(lines.join('\n'));
    expect(new Set(server.received.map(({ key }) => key)).size).toBe(3);
  });

  test('keeps the lines of an item together', async () => {
    const server = await startServer();
    const lines = [
      ...Array.from({ length: 199 }, (_, index) => `Line ${index}`),
      'An item',
      '  that goes on',
      '  and on',
    ];
    await connected(server.url).pipe(lines.join('\n'));
    expect(texts(server)).toEqual([lines.slice(0, 199).join('\n'), lines.slice(199).join('\n')]);
  });

  test('reads what PowerShell writes', async () => {
    const server = await startServer();
    await connected(server.url).pipe(Buffer.from('\ufeffShipped 🚀\r\n', 'utf16le'));
    expect(texts(server)).toEqual(['Shipped 🚀']);
  });

  test.each([
    ['a megabyte', Buffer.from('words\n'.repeat(175_000)), /longer than the 256 KB/],
    ['a long line', Buffer.from(`short\n${'x'.repeat(16_001)}`), /A line is longer/],
    ['what is no UTF-8', Buffer.from([0x61, 0xff, 0xfe, 0x0a]), /no UTF-8 text/],
    ['a binary file', Buffer.from('a\0b'), /no text/],
    ['nothing', Buffer.from(' \n\n'), /no text to add/],
  ])('refuses %s, and adds nothing', async (_what, input, why) => {
    const server = await startServer();
    const machine = connected(server.url);
    const { exitCode, stderr } = await machine.pipe(input);
    expect(exitCode).toBe(65);
    expect(stderr).toMatch(why);
    expect([server.received, filesIn(machine, 'waiting')]).toEqual([[], []]);
  });
});

describe('what is not sent', () => {
  test('is printed back before a login, because it belongs to no account yet', async () => {
    const machine = createMachine();
    expect(await machine.pipe('One\nTwo\n')).toEqual({
      exitCode: 77,
      stdout: '',
      stderr: 'Not added:\nOne\nTwo\nhustle: Not connected. Run "hustle login".\n',
    });
    expect((await machine.run('Shipped', 'it')).stderr).toContain('Not added:\nShipped it\n');
  });

  test('is kept, for its day, and sent in order with the next call', async () => {
    const server = await startServer();
    let now = new Date('2026-11-27T21:00:00Z');
    const machine = connected(server.url, { now: () => now });
    server.answer = () => [503, { success: false, code: 'BUSY', error: 'The server is busy' }];
    const first = await machine.run('First');
    expect(first).toMatchObject({ exitCode: 0, stdout: '' });
    expect(first.stderr).toContain('1 text kept here');
    expect(await machine.run('Second', '--date', '2026-11-20')).toMatchObject({ exitCode: 0 });
    expect(await machine.run('sync')).toMatchObject({ exitCode: 75 });
    now = new Date('2026-11-28T09:00:00Z');
    const accepted = await startServer();
    server.answer = accepted.answer;
    server.received.length = 0;
    expect(await machine.run('Third')).toMatchObject({ exitCode: 0, stderr: '' });
    expect(server.received.map(({ body }) => body)).toEqual([
      { text: 'First', at: '2026-11-27T21:00:00.000Z', time_zone: 'Europe/Vienna' },
      { text: 'Second', date: '2026-11-20' },
      { text: 'Third', at: '2026-11-28T09:00:00.000Z', time_zone: 'Europe/Vienna' },
    ]);
    expect(filesIn(machine, 'waiting')).toEqual([]);
  });

  test('keeps its key when it is sent again', async () => {
    const server = await startServer();
    const { answer } = server;
    const machine = connected(server.url);
    server.answer = () => [502, {}];
    await machine.run('First');
    server.answer = answer;
    await machine.run('sync');
    const [first, again] = server.received.map(({ key }) => key);
    expect(first).toMatch(/^[\w-]{36}$/);
    expect(again).toBe(first);
  });

  test('is refused, kept and shown if the server will never take it, and does not hold up the others', async () => {
    const server = await startServer();
    const { answer } = server;
    server.answer = (request) =>
      request.body['text'] === 'Bad'
        ? [403, { success: false, code: 'locked_day', error: 'This day is locked.' }]
        : answer(request);
    const machine = connected(server.url);
    const bad = await machine.run('Bad', '--date', '2025-01-01');
    expect(bad).toMatchObject({ exitCode: 65, stdout: '' });
    expect(bad.stderr).toContain('Refused: This day is locked. The text is kept: hustle refused');
    expect(await machine.run('Good')).toMatchObject({ exitCode: 0, stderr: '' });
    expect((await machine.run('refused')).stdout).toBe('2025-01-01: This day is locked.\nBad\n');
    expect((await machine.run('status')).stdout).toContain('Refused: 1 text.');
    server.answer = answer;
    expect(await machine.run('refused', '--retry')).toMatchObject({ exitCode: 0, stdout: 'Sent 1 text.\n' });
    expect(texts(server)).toEqual(['Bad', 'Good', 'Bad']);
    expect(server.received[0]!.key).not.toBe(server.received[2]!.key);
    expect(await machine.run('refused')).toMatchObject({ stdout: '' });
  });

  test.each([
    ['an HTML page of a proxy', [200, 'a page'] as [number, unknown]],
    ['another program', [404, { message: 'no such route' }] as [number, unknown]],
    ['a refusal without a known reason', [400, { success: false, code: 'teapot', error: 'No' }] as [number, unknown]],
    ['an ended token', [401, { success: false, code: 'TOKEN_INVALID', error: 'x' }] as [number, unknown]],
    ['a missing scope', [403, { success: false, code: 'TOKEN_SCOPE', error: 'x' }] as [number, unknown]],
    ['too many requests', [429, { success: false, code: '53400', error: 'x' }] as [number, unknown]],
  ])('stays when %s answers', async (_what, refusal) => {
    const server = await startServer();
    server.answer = () => refusal;
    const machine = connected(server.url);
    const { exitCode } = await machine.run('Kept');
    expect(exitCode).toBe([401, 403].includes(refusal[0]) ? 77 : 0);
    expect(filesIn(machine, 'waiting')).toHaveLength(1);
    expect(filesIn(machine, 'refused')).toEqual([]);
  });

  test('waits for its own account and server', async () => {
    const [server, other] = [await startServer(), await startServer()];
    server.answer = () => [503, {}];
    const env: Record<string, string> = { HUSTLE_SERVER: server.url, HUSTLE_TOKEN: TOKEN };
    const machine = createMachine({ env });
    await machine.run('For Ada');
    env['HUSTLE_TOKEN'] = OTHER_TOKEN;
    server.received.length = 0;
    await machine.run('sync');
    expect(server.received).toEqual([]);
    expect((await machine.run('status')).stdout).toContain('Waiting for another account or server: 1 text');
    env['HUSTLE_SERVER'] = other.url;
    env['HUSTLE_TOKEN'] = TOKEN;
    await machine.run('sync');
    expect(other.received).toEqual([]);
  });

  test('is not sent after 29 days, because it may have arrived', async () => {
    const server = await startServer();
    let now = new Date('2026-11-01T12:00:00Z');
    const machine = connected(server.url, { now: () => now });
    server.answer = () => [503, {}];
    await machine.run('Old');
    now = new Date('2026-12-01T12:00:00Z');
    server.received.length = 0;
    expect(await machine.run('sync')).toMatchObject({
      exitCode: 65,
      stderr: expect.stringContaining('may have arrived'),
    });
    expect(server.received).toEqual([]);
    expect((await machine.run('refused')).stdout).toContain('Old');
  });

  test('a damaged file is neither sent nor deleted, and stops nothing', async () => {
    const server = await startServer();
    const machine = connected(server.url);
    const folder = join(machine.home, '.local', 'state', 'hustle', 'waiting');
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, '000000000000001-x.json'), '{"key":"x","te');
    expect(await machine.run('Good')).toMatchObject({ exitCode: 0, stderr: '' });
    expect(texts(server)).toEqual(['Good']);
    expect(filesIn(machine, 'waiting')).toHaveLength(1);
  });
});

describe('the token', () => {
  test.each([0o640, 0o604, 0o666])('is not read from a file of the mode %o', async (mode) => {
    const server = await startServer();
    const machine = createMachine();
    storeConnection(machine, server.url, mode);
    const { exitCode, stderr } = await machine.run('Shipped');
    expect(exitCode).toBe(78);
    expect(stderr).toMatch(/others can read it\. Run: chmod 600/);
    expect(server.received).toEqual([]);
  });

  test('is not read through a symbolic link, and a login replaces the link, not its target', async () => {
    const machine = createMachine();
    const path = storeConnection(machine, 'https://journal.example');
    const target = join(machine.home, 'target');
    writeFileSync(target, 'precious', { mode: 0o600 });
    const { unlinkSync } = await import('node:fs');
    unlinkSync(path);
    symlinkSync(target, path);
    expect(await machine.run('Shipped')).toMatchObject({
      exitCode: 78,
      stderr: expect.stringContaining('symbolic link'),
    });
    const { storeConnection: store } = await import('./connection.ts');
    store({ env: {}, platform: 'linux', home: machine.home }, { server: 'https://journal.example', token: TOKEN });
    expect(lstatSync(path).isSymbolicLink()).toBe(false);
    expect(lstatSync(path).mode & 0o777).toBe(0o600);
    expect(readFileSync(target, 'utf8')).toBe('precious');
  });

  test('is not sent to another server than its own', async () => {
    const [own, other] = [await startServer(), await startServer()];
    const machine = createMachine();
    storeConnection(machine, own.url);
    expect(await machine.run('x', '--server', other.url)).toMatchObject({ exitCode: 77 });
    expect(other.received).toEqual([]);
    expect(await machine.run('Shipped')).toMatchObject({ exitCode: 0 });
    expect(own.received[0]!.authorization).toBe(`Bearer ${TOKEN}`);
  });

  test('does not follow a redirect', async () => {
    const thief = await startServer();
    const url = await listen((_request, response) => {
      response.writeHead(307, { location: `${thief.url}/functions/v1/append-item` }).end();
    });
    const { exitCode, stderr } = await connected(url).run('today');
    expect(exitCode).toBe(69);
    expect(stderr).toContain(`sends its callers to ${thief.url}`);
    expect(thief.received).toEqual([]);
  });

  test.each([
    'http://journal.example',
    'https://ada:x@journal.example',
    'https://journal.example/path',
    'ftp://x',
    'https://',
  ])('is not sent to %s', async (address) => {
    const { exitCode } = await connected(address, { fetch: () => expect.unreachable() }).run('x');
    expect(exitCode).toBe(78);
  });

  test.each(['TOKEN_INVALID', 'TOKEN_SCOPE'])('says where the next one comes from after %s', async (code) => {
    const server = await startServer();
    server.answer = () => [code === 'TOKEN_INVALID' ? 401 : 403, { success: false, code }];
    expect((await connected(server.url).run('today')).stderr).toContain('set HUSTLE_TOKEN to it.');
    const machine = createMachine();
    storeConnection(machine, server.url);
    expect((await machine.run('today')).stderr).toContain(`Run "hustle login ${server.url}".`);
  });

  test('that has ended is told once, and the next one sends the text that was kept', async () => {
    const server = await startServer();
    const { answer } = server;
    server.answer = () => [401, { success: false, code: 'TOKEN_INVALID', error: 'x' }];
    const machine = createMachine();
    storeConnection(machine, server.url);
    await machine.run('Kept');
    for (const command of [['week'], ['find', 'x']]) {
      const { exitCode, stderr } = await machine.run(...command);
      expect(exitCode).toBe(77);
      expect(stderr.split('has ended')).toHaveLength(2);
      expect(stderr).toContain('1 text kept here');
    }
    server.answer = answer;
    storeConnection(machine, server.url);
    expect((await machine.run('sync')).stdout).toBe('Sent 1 text.\n');
    expect(filesIn(machine, 'waiting')).toEqual([]);
  });

  test('that has ended is not shown as a live one', async () => {
    const server = await startServer();
    const machine = createMachine();
    const path = storeConnection(machine, server.url);
    const stored = { server: server.url, token: TOKEN, scope: 'append read', expires_at: '2027-11-28T00:00:00.000Z' };
    writeFileSync(path, JSON.stringify(stored));
    server.answer = () => [400, { success: false, code: 'invalid_text', error: 'Send a text.' }];
    const live = `Server: ${server.url}\nMay: append and read\nUntil: 2027-11-28\n`;
    expect(await machine.run('status')).toEqual({ exitCode: 0, stdout: live, stderr: '' });
    server.answer = () => [401, { success: false, code: 'TOKEN_INVALID', error: 'x' }];
    expect(await machine.run('status')).toEqual({
      exitCode: 77,
      stdout: `Server: ${server.url}\n`,
      stderr: `The token for ${server.url} has ended. Run "hustle login ${server.url}".\n`,
    });
    server.answer = () => [502, 'a proxy'];
    expect(await machine.run('status')).toMatchObject({
      exitCode: 0,
      stdout: live,
      stderr: expect.stringContaining('does not answer as'),
    });
  });

  test('is never printed, also if it is damaged', async () => {
    const machine = createMachine({ env: { HUSTLE_SERVER: 'https://journal.example', HUSTLE_TOKEN: `${TOKEN}x` } });
    const { exitCode, stdout, stderr } = await machine.run('x');
    expect([exitCode, stdout]).toEqual([78, '']);
    expect(stderr).not.toContain('hforge_');
  });
});

describe('a malicious server', () => {
  const ESCAPES = 'a\u001b]52;c;ZXZpbA==\u0007b\u009b31mc\u202ed\u200be\rf';

  test('writes no control characters to the terminal', async () => {
    const server = await startServer();
    const machine = connected(server.url, { isTerminal: true, env: { NO_COLOR: '1' } });
    server.answer = () => [
      200,
      { success: true, from: '2026-11-28', to: '2026-11-28', days: [{ date: ESCAPES, markdown: ESCAPES }] },
    ];
    for (const args of [['today'], ['week', '--markdown'], ['week', '--json']]) {
      const { stdout } = await machine.run(...args);
      // oxlint-disable-next-line no-control-regex -- the control characters are what must not be there
      expect(stdout, args.join(' ')).not.toMatch(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202e\u200b]/);
      expect(stdout).toContain('31m');
    }
    server.answer = () => [400, { success: false, code: 'x', error: ESCAPES }];
    expect((await machine.run('today')).stderr).toBe('hustle: a]52;c;ZXZpbA==b31mcdef\n');
  });

  test('does not fill the memory', async () => {
    let sent = 0;
    const url = await listen((_request, response) => {
      response.writeHead(200, { 'content-type': 'application/json' });
      const chunk = Buffer.alloc(1024 * 1024, 0x20);
      const send = (): void => {
        while (sent < 10_000 && !response.destroyed) {
          sent += 1;
          if (!response.write(chunk)) {
            response.once('drain', send);
            return;
          }
        }
      };
      send();
    });
    expect(await connected(url).run('today')).toMatchObject({
      exitCode: 69,
      stderr: expect.stringContaining('too long'),
    });
    expect(sent).toBeLessThan(100);
  });

  test.each([
    'file:///etc/passwd',
    'javascript:alert(1)',
    'https://evil.example/connect?user_code=BCDF-BCDF',
    '-flag',
    'blob:http://HOST/connect',
    'http://user:password@HOST/connect',
  ])('opens no browser at %s', async (address) => {
    const server = await startServer();
    const page = address.replace('HOST', new URL(server.url).host);
    server.answer = () => [
      200,
      { device_code: 'x', user_code: 'BCDF-BCDF', verification_uri_complete: page, interval: 5, expires_in: 600 },
    ];
    const machine = createMachine({ env: { DISPLAY: ':0' } });
    expect(await machine.run('login', server.url)).toMatchObject({ exitCode: 69 });
    expect(machine.started).toEqual([]);
  });

  test.each([
    ['no object', [200, [1, 2]] as [number, unknown]],
    [
      'days that are none',
      [200, { from: '2026-11-28', to: 'x', days: [null, 5, { markdown: {} }] }] as [number, unknown],
    ],
    ['no days', [200, { success: true }] as [number, unknown]],
    ['results that are none', [200, { results: [null, 5, { snippet: [null] }] }] as [number, unknown]],
  ])('answers %s', async (_what, answer) => {
    const server = await startServer();
    server.answer = () => answer;
    for (const args of [['today'], ['find', 'x']]) {
      const { exitCode, stderr } = await connected(server.url).run(...args);
      expect([0, 69]).toContain(exitCode);
      expect(stderr).not.toContain('    at ');
    }
  });

  test.each([0, -1, 1e300])('lets a token end after %d seconds', async (seconds) => {
    const server = await startServer();
    server.answer = ({ path }) => [
      200,
      path.endsWith('/authorize')
        ? { device_code: 'x', user_code: 'BCDF-BCDF', verification_uri: `${server.url}/connect` }
        : { access_token: TOKEN, expires_in: seconds },
    ];
    expect(await createMachine().run('login', server.url)).toMatchObject({ exitCode: 69 });
  });
});

describe('without a server', () => {
  test('a text is kept, and reading says why not', async () => {
    const machine = connected('http://127.0.0.1:9');
    expect(await machine.run('Kept')).toMatchObject({
      exitCode: 0,
      stderr: expect.stringContaining('does not answer'),
    });
    expect(filesIn(machine, 'waiting')).toHaveLength(1);
    const { exitCode, stderr } = await machine.run('today');
    expect(exitCode).toBe(69);
    expect(stderr).toContain('hustle: http://127.0.0.1:9 does not answer (');
  });

  test('a text that the disk takes only in part is not stored as a whole one', () => {
    const { home } = createMachine();
    const module = JSON.stringify(new URL('connection.ts', import.meta.url));
    // Limits a file to a block, which a longer write fills.
    const script = 'ulimit -f 1; exec "$0" --input-type=module -e "$1"';
    const code = `(await import(${module})).writeFileDurably('${home}/text', 'a'.repeat(9_000))`;
    const { status } = spawnSync('sh', ['-c', script, process.execPath, code]);
    expect(status).not.toBe(0);
    expect(readdirSync(home)).toEqual([]);
  });

  test('a folder that cannot be written is said, with the text not lost in silence', async () => {
    const server = await startServer();
    const machine = connected(server.url);
    mkdirSync(join(machine.home, '.local'), { recursive: true });
    writeFileSync(join(machine.home, '.local', 'state'), 'a file');
    const { exitCode, stderr } = await machine.run('Shipped');
    expect([exitCode, server.received]).toEqual([74, []]);
    expect(stderr).toMatch(/cannot be used \((ENOTDIR|EEXIST)\)/);
  });
});

test.each([
  ['linux', {}, '.config/hustle'],
  ['linux', { XDG_CONFIG_HOME: 'XDG' }, 'XDG/hustle'],
  ['darwin', {}, 'Library/Application Support/hustle'],
  ['win32', {}, 'AppData/Local/hustle'],
  ['win32', { LOCALAPPDATA: 'LOCAL' }, 'LOCAL/hustle'],
] as const)('on %s with %j the connection is below %s', async (platform, env, folder) => {
  const { storeConnection: store } = await import('./connection.ts');
  const machine = createMachine();
  const absolute = Object.fromEntries(Object.entries(env).map(([name, value]) => [name, join(machine.home, value)]));
  store({ env: absolute, platform, home: machine.home }, { server: 'https://journal.example', token: TOKEN });
  expect(readdirSync(join(machine.home, folder))).toEqual(['connection.json']);
});
