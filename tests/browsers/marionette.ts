/**
 * Firefox, driven over Marionette, which runs privileged scripts: WebDriver has no command for the compositions of an
 * input method.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { vi } from 'vitest';
import { freePort } from '#server/database/embedded/endpoint.ts';
import { WAIT_LIMIT_MS } from './browser-page.ts';
import { WITH_A_MOUSE } from './firefox.ts';

type Answer = [type: number, id: number, error: object | null, result: { value?: unknown } | null];

/** Each message is JSON behind its length. */
class Connection {
  readonly #socket: Socket;
  readonly #answers = new Map<number, (answer: Answer) => void>();
  #received: Buffer = Buffer.alloc(0);
  #sent = 0;

  constructor(socket: Socket) {
    this.#socket = socket;
    socket.on('data', (data) => this.#read(Buffer.concat([this.#received, data])));
  }

  #read(data: Buffer): void {
    const colon = data.indexOf(':');
    const end = colon + 1 + Number(data.subarray(0, Math.max(0, colon)).toString());
    this.#received = data;
    if (colon === -1 || data.length < end) return;
    const message: unknown = JSON.parse(data.subarray(colon + 1, end).toString());
    // The first message is a greeting.
    if (Array.isArray(message)) this.#answers.get((message as Answer)[1])?.(message as Answer);
    this.#read(data.subarray(end));
  }

  async send(command: string, parameters: object = {}): Promise<unknown> {
    const id = (this.#sent += 1);
    const answered = new Promise<Answer>((resolve) => this.#answers.set(id, resolve));
    const text = JSON.stringify([0, id, command, parameters]);
    this.#socket.write(`${Buffer.byteLength(text)}:${text}`);
    const [, , error, result] = await answered;
    if (error) throw new Error(`${command}: ${JSON.stringify(error)}`);
    return result?.value;
  }
}

/** Runs in the page with the rights of Firefox. Begins a composition, or changes its text. */
const COMPOSE = `
  globalThis.processor ??= Components.classes['@mozilla.org/text-input-processor;1']
    .createInstance(Components.interfaces.nsITextInputProcessor);
  const [text] = arguments;
  processor.beginInputTransactionForTests(window);
  processor.setPendingCompositionString(text);
  processor.appendClauseToPendingComposition(text.length, processor.ATTR_RAW_CLAUSE);
  processor.setCaretInPendingComposition(text.length);
  processor.flushPendingComposition();`;

export type ComposingFirefox = Awaited<ReturnType<typeof launchComposingFirefox>>;

export async function launchComposingFirefox(executablePath: string) {
  const port = await freePort();
  const profile = await mkdtemp(join(tmpdir(), 'firefox-'));
  const preferences = Object.entries({ ...WITH_A_MOUSE, 'marionette.port': port });
  await writeFile(
    join(profile, 'user.js'),
    preferences.map(([name, value]) => `user_pref('${name}', ${value});`).join('\n'),
  );
  const options = ['--headless', '--marionette', '--remote-allow-system-access', '--no-remote', '--profile', profile];
  const firefox = spawn(executablePath, options, { stdio: 'ignore' });
  const open = async (): Promise<Socket> => {
    const socket = connect(port, '127.0.0.1');
    await once(socket, 'connect');
    return socket;
  };
  const socket = await vi.waitFor(open, { timeout: WAIT_LIMIT_MS, interval: 200 });
  const connection = new Connection(socket);
  await connection.send('WebDriver:NewSession');
  const run = (script: string, args: readonly unknown[], sandbox: 'system' | null): Promise<unknown> =>
    connection.send('WebDriver:ExecuteScript', { script, args, sandbox, newSandbox: false });
  return {
    open: (url: string) => connection.send('WebDriver:Navigate', { url }),
    /** Runs the body of a function in the page. */
    evaluate: (body: string, ...args: unknown[]) => run(body, args, null),
    async press(key: string): Promise<void> {
      const actions = ['keyDown', 'keyUp'].map((type) => ({ type, value: key }));
      await connection.send('WebDriver:PerformActions', { actions: [{ type: 'key', id: 'keyboard', actions }] });
    },
    /** Shows each text in turn and accepts the last one. */
    async compose(...texts: readonly string[]): Promise<void> {
      for (const text of texts) await run(COMPOSE, [text], 'system');
      await run('processor.commitComposition();', [], 'system');
    },
    async close(): Promise<void> {
      const exited = once(firefox, 'exit');
      firefox.kill();
      await exited;
      await rm(profile, { recursive: true });
    },
  };
}
