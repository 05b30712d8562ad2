/** `hustle login`: the device authorization grant (RFC 8628), which also works where no browser is. */
import { EXIT, CommandError, note, print, type Machine } from './program.ts';
import { messageOf, NoAnswerError, post, refusalOf, textOf, type Answer } from './api.ts';
import { readStored, storeConnection, type Connection } from './connection.ts';

const GRANT = 'urn:ietf:params:oauth:grant-type:device_code';
const NAME_MAX_LENGTH = 60;
const SLOWER_MS = 5_000;
/** Caps on the times that a server names. Threat: a malicious server makes the program wait for ever. */
const MAX_INTERVAL_MS = 60_000;
const MAX_WAIT_MS = 30 * 60_000;
/** Ten years. A server that names a longer lifetime of a token sends an invalid answer. */
const MAX_SECONDS = 10 * 366 * 24 * 3_600;

type Options = { opensBrowser: boolean; scope: 'append' | 'append read' };

export async function login(machine: Machine, server: string, { opensBrowser, scope }: Options): Promise<void> {
  const name = `hustle on ${machine.hostName}`.slice(0, NAME_MAX_LENGTH);
  const asked = await post(machine, server, '/auth/v1/device/authorize', { body: { client_id: name, scope } });
  if (asked.status !== 200) throw refusalOf(asked, { server, isFromEnvironment: false });
  const { page, code, deviceCode, interval, deadline } = readAuthorization(machine, server, asked);
  note(machine, `Open ${page}\nand allow the connection there if it shows this code: ${code}`);
  if (opensBrowser) openBrowser(machine, page);
  const { token, granted, expiresAt } = await poll(machine, server, { deviceCode, interval, deadline });
  const previous = readStored(machine);
  storeConnection(machine, { server, token, scope: granted, expires_at: expiresAt });
  // A token that nobody uses any more should not live on.
  if (previous) await revoke(machine, previous).catch(() => undefined);
  print(machine, `Connected to ${server} until ${expiresAt.slice(0, 10)}.`);
}

/**
 * Threat: a malicious server names an address of another kind, such as a file or a program's own scheme, which the
 * machine would open. Only a page of the server's own origin is accepted.
 */
function readAuthorization(machine: Machine, server: string, { body }: Answer) {
  const page = textOf(body['verification_uri_complete']) || textOf(body['verification_uri']);
  const [deviceCode, code] = [textOf(body['device_code']), textOf(body['user_code'])];
  const url = URL.canParse(page) ? new URL(page) : null;
  // An address with `blob:` or a user has the server's origin, too.
  if (!url?.href.startsWith(`${url.origin}/`) || deviceCode === '' || !/^[A-Z-]{4,20}$/.test(code))
    throw new NoAnswerError(`${server} does not answer as a Hustle Forge server.`);
  const { href, origin } = url;
  if (origin !== server) throw new NoAnswerError(`${server} calls itself ${origin}. Run: hustle login ${origin}`);
  const seconds = (field: string, fallback: number): number => {
    const value = body[field];
    return typeof value === 'number' && value > 0 ? value : fallback;
  };
  const wait = Math.min(seconds('expires_in', 600) * 1_000, MAX_WAIT_MS);
  return {
    page: href,
    code,
    deviceCode,
    interval: Math.min(seconds('interval', 5) * 1_000, MAX_INTERVAL_MS),
    deadline: machine.now().getTime() + wait,
  };
}

type Polling = { deviceCode: string; interval: number; deadline: number };

async function poll(machine: Machine, server: string, { deviceCode, interval, deadline }: Polling) {
  let wait = interval;
  for (;;) {
    await machine.sleep(wait);
    if (machine.now().getTime() > deadline)
      throw new CommandError(EXIT.permission, 'The code has expired. Run "hustle login" again.');
    let answer: Answer;
    try {
      const body = { grant_type: GRANT, device_code: deviceCode };
      answer = await post(machine, server, '/auth/v1/device/token', { body });
    } catch (error) {
      if (!(error instanceof NoAnswerError)) throw error;
      // RFC 8628 3.5 recommends exponential backoff after a timeout.
      wait = Math.min(wait * 2, MAX_INTERVAL_MS);
      continue;
    }
    if (answer.status === 200) return readToken(machine, server, answer);
    const error = textOf(answer.body['error']);
    if (error === 'slow_down') wait = Math.min(wait + SLOWER_MS, MAX_INTERVAL_MS);
    else if (answer.status === 429 || answer.status >= 500) wait = Math.min(wait * 2, MAX_INTERVAL_MS);
    else if (error !== 'authorization_pending') throw new CommandError(EXIT.permission, `${messageOf(answer)}.`);
  }
}

function readToken(machine: Machine, server: string, { body }: Answer) {
  const token = textOf(body['access_token']);
  const seconds = body['expires_in'];
  if (!/^hforge_[\w-]{64}$/.test(token) || typeof seconds !== 'number' || !(seconds > 0 && seconds < MAX_SECONDS))
    throw new NoAnswerError(`${server} does not answer as a Hustle Forge server.`);
  const expiresAt = new Date(machine.now().getTime() + seconds * 1_000).toISOString();
  return { token, granted: textOf(body['scope']), expiresAt };
}

/** Ends the token at the server (RFC 7009). */
export const revoke = (machine: Machine, { server, token }: Pick<Connection, 'server' | 'token'>): Promise<Answer> =>
  post(machine, server, '/auth/v1/device/revoke', { body: { token } });

/** Safe, because `page` has the server's origin, and no shell interprets it. */
function openBrowser(machine: Machine, page: string): void {
  const { platform, env } = machine;
  // Over SSH, and on Linux without a display, there is no browser here to open.
  if (env['SSH_CONNECTION'] || (platform === 'linux' && !env['DISPLAY'] && !env['WAYLAND_DISPLAY'])) return;
  if (platform === 'win32') machine.start('rundll32', ['url.dll,FileProtocolHandler', page]);
  else machine.start(platform === 'darwin' ? 'open' : 'xdg-open', [page]);
}
