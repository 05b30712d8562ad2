/** The server and the token of the commands: HUSTLE_SERVER and HUSTLE_TOKEN, else what `hustle login` has stored. */
import { randomUUID } from 'node:crypto';
import {
  closeSync,
  constants,
  fstatSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { TOKEN_PREFIX } from '#domain/account/access-token.ts';
import { CommandError, EXIT, hasCode, type Machine } from './program.ts';

export type Connection = {
  /** An origin, `https://journal.example`. */
  readonly server: string;
  readonly token: string;
  /** Tells accounts apart: what was written for one must not reach another. */
  readonly account: string;
  /** The token is that of HUSTLE_TOKEN, which a login does not replace. */
  readonly isFromEnvironment: boolean;
};

/** The content of the file `FILE`. */
type Stored = { server: string; token: string; scope?: string; expires_at?: string };

const FILE = 'connection.json';
const TOKEN = new RegExp(`^${TOKEN_PREFIX}[A-Za-z0-9_-]{64}$`);
/** How many characters after the prefix depend on the user's id only. They hold 126 of its 128 bits. */
const ACCOUNT_LENGTH = 21;

type Place = Pick<Machine, 'env' | 'platform' | 'home'>;

/** The folder for settings and secrets, as the platform has it. */
const configFolder = (place: Place): string => join(folderOf(place, 'XDG_CONFIG_HOME', '.config'), 'hustle');
/** The folder for texts that wait to be sent, or that the server has refused. */
export const stateFolder = (place: Place): string =>
  join(folderOf(place, 'XDG_STATE_HOME', join('.local', 'state')), 'hustle');

function folderOf({ env, platform, home }: Place, variable: string, fallback: string): string {
  const named = env[variable];
  if (named) return named;
  if (platform === 'win32') return env['LOCALAPPDATA'] || join(home, 'AppData', 'Local');
  return platform === 'darwin' ? join(home, 'Library', 'Application Support') : join(home, fallback);
}

const LOOPBACK = new Set(['localhost', '127.0.0.1', '[::1]']);

/**
 * The origin of an address that a user has typed; `journal.example` is enough. Threat: a token is sent in the clear, so
 * only the own machine may be reached without TLS.
 */
export function parseServer(text: string): string {
  const refused = (why: string) => new CommandError(EXIT.config, `${text} is no server address: ${why}`);
  const address = /^https?:\/\//i.test(text) ? text : `https://${text}`;
  if (!URL.canParse(address)) throw refused('write it as https://journal.example.');
  const { protocol, origin, hostname, pathname, search, hash, username, password } = new URL(address);
  if (protocol !== 'https:' && !LOOPBACK.has(hostname))
    throw refused('it must begin with https://, because your token is sent to it.');
  if (pathname !== '/' || search !== '' || hash !== '' || username !== '' || password !== '')
    throw refused('it has a host and a port only.');
  return origin;
}

type Options = { server?: string | undefined };

/** @throws CommandError if this machine is not connected */
export function requireConnection(machine: Place, options: Options): Connection {
  const connection = findConnection(machine, options);
  if (connection) return connection;
  const named = options.server ?? machine.env['HUSTLE_SERVER'];
  const where = named === undefined ? '' : ` to ${parseServer(named)}`;
  const how = named === undefined ? 'hustle login' : `hustle login ${parseServer(named)}`;
  throw new CommandError(EXIT.permission, `Not connected${where}. Run "${how}".`);
}

export function findConnection(machine: Place, options: Options): Connection | null {
  const named = options.server ?? machine.env['HUSTLE_SERVER'];
  const server = named ? parseServer(named) : null;
  const token = machine.env['HUSTLE_TOKEN'];
  if (token) {
    if (!TOKEN.test(token)) throw new CommandError(EXIT.config, 'HUSTLE_TOKEN is no whole token.');
    const known = server ?? readStored(machine)?.server;
    if (known === undefined)
      throw new CommandError(EXIT.config, 'HUSTLE_TOKEN is set, and HUSTLE_SERVER is not. Set both.');
    return withAccount({ server: known, token }, true);
  }
  const stored = readStored(machine);
  // Threat: an address that somebody else has chosen gets the token of the stored server.
  if (stored === null || (server !== null && server !== stored.server)) return null;
  return withAccount(stored, false);
}

const withAccount = ({ server, token }: Pick<Stored, 'server' | 'token'>, isFromEnvironment: boolean): Connection => ({
  server,
  token,
  isFromEnvironment,
  account: token.slice(TOKEN_PREFIX.length, TOKEN_PREFIX.length + ACCOUNT_LENGTH),
});

const NO_FOLLOW = constants.O_NOFOLLOW ?? 0;

/**
 * Null without a file. Threat: others on the machine read the file, or have planted it or a link in its place. Owner
 * and mode are checked on the open file, so that nobody can exchange the file between the check and the read.
 */
export function readStored(machine: Place): Stored | null {
  const path = join(configFolder(machine), FILE);
  const refused = (why: string) => new CommandError(EXIT.config, `${path} is not used: ${why}`);
  let file: number;
  try {
    file = openSync(path, constants.O_RDONLY | NO_FOLLOW);
  } catch (error) {
    if (hasCode(error, 'ENOENT', 'ENOTDIR')) return null;
    if (hasCode(error, 'ELOOP')) throw refused('it is a symbolic link. Put the file itself there.');
    throw error;
  }
  try {
    const { mode, uid } = fstatSync(file);
    if (machine.platform !== 'win32') {
      if (uid !== process.getuid?.()) throw refused('it belongs to another user.');
      if ((mode & 0o077) !== 0) throw refused(`others can read it. Run: chmod 600 "${path}"`);
    }
    const stored = parseStored(readFileSync(file, 'utf8'));
    if (stored === null) throw refused('it is damaged. Run "hustle login" again.');
    return stored;
  } finally {
    closeSync(file);
  }
}

function parseStored(text: string): Stored | null {
  try {
    const { server, token, scope, expires_at } = JSON.parse(text) as Record<string, unknown>;
    if (typeof server !== 'string' || typeof token !== 'string' || !TOKEN.test(token)) return null;
    if (parseServer(server) !== server) return null;
    return {
      server,
      token,
      ...(typeof scope === 'string' && { scope }),
      ...(typeof expires_at === 'string' && { expires_at }),
    };
  } catch {
    return null;
  }
}

/** Replaces the file. If a link is in its place, replaces the link, not what the link points to. */
export function storeConnection(machine: Place, stored: Stored): void {
  const folder = configFolder(machine);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  writeFileDurably(join(folder, FILE), `${JSON.stringify(stored, null, 2)}\n`);
}

export const removeStored = (machine: Place): void => rmSync(join(configFolder(machine), FILE), { force: true });

/** The whole file or none of it, also after a crash: a new file of the mode 0600 takes the place of the old one. */
export function writeFileDurably(path: string, text: string): void {
  const temporary = `${path}.${randomUUID()}.tmp`;
  try {
    const file = openSync(temporary, 'wx', 0o600);
    try {
      // Not `writeSync`, which may write a part only, as on a full disk.
      writeFileSync(file, text);
      fsyncSync(file);
    } finally {
      closeSync(file);
    }
    renameSync(temporary, path);
  } catch (error) {
    rmSync(temporary, { force: true });
    throw error;
  }
  syncFolder(join(path, '..'));
}

/** Syncs the folder: only then is a new name in it durable. Windows cannot sync a folder. */
export function syncFolder(path: string): void {
  if (process.platform === 'win32') return;
  const folder = openSync(path, 'r');
  try {
    fsyncSync(folder);
  } finally {
    closeSync(folder);
  }
}
