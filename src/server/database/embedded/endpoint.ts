/** Where the embedded server listens, and its connection string. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DATABASE_NAME, OWNER, type ClusterPaths } from './cluster.ts';
import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:net';

/** A Unix socket in the private cluster folder; loopback on Windows, or where the path is too long for a socket. */
export type Endpoint = { kind: 'socket' | 'loopback'; port: number };

const SOCKET_PORT = 5432;
/** `sockaddr_un` holds 104 bytes on macOS and 108 on Linux, with the final zero. */
const SOCKET_PATH_MAX_BYTES = 103;

export function endpointKind(cluster: string): Endpoint['kind'] {
  const bytes = Buffer.byteLength(join(cluster, `.s.PGSQL.${SOCKET_PORT}`));
  return process.platform === 'win32' || bytes > SOCKET_PATH_MAX_BYTES ? 'loopback' : 'socket';
}

export async function chooseEndpoint(cluster: string): Promise<Endpoint> {
  const kind = endpointKind(cluster);
  return { kind, port: kind === 'socket' ? SOCKET_PORT : await freePort() };
}

export async function ownerUrl(
  paths: ClusterPaths,
  { kind, port }: Endpoint,
  database = DATABASE_NAME,
): Promise<string> {
  const password = (await readFile(paths.passwordFile, 'utf8')).trim();
  const host = kind === 'socket' ? paths.cluster : '127.0.0.1';
  const place = new URLSearchParams({ host, port: String(port) });
  return `postgresql://${OWNER}:${password}@/${database}?${place.toString()}`;
}

/**
 * Below the ephemeral ports (Linux from 32768, macOS and Windows from 49152): the system could assign one of those
 * before the caller binds it.
 */
const PORTS = { from: 20_000, to: 30_000 };
const MAX_TRIES = 50;

export async function freePort(): Promise<number> {
  for (let tried = 1; ; tried += 1) {
    const port = randomInt(PORTS.from, PORTS.to);
    const probe = createServer().listen(port, '127.0.0.1');
    try {
      await once(probe, 'listening');
    } catch (error) {
      if (tried === MAX_TRIES) throw error;
      continue;
    }
    probe.close();
    await once(probe, 'close');
    return port;
  }
}
