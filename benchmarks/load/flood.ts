/**
 * Floods a server from several loopback addresses, as a separate process so that it does not delay the measurement.
 * Reads its plan from standard input (JSON), floods until SIGTERM, then prints the number of answers by status as JSON.
 */
import { connect, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';

export type FloodPlan = {
  port: number;
  /** `127.0.K.1` for K from `firstAddress` on. */
  firstAddress: number;
  addresses: number;
  kinds: readonly FloodKind[];
};

/**
 * `requests`: sends the next request once the last is answered. `pipelined`: sends many without waiting. `slow`: sends
 * a body byte by byte. `unread`: never reads its answers. `large`: sends the largest body again and again.
 */
export type FloodKind = {
  kind: 'requests' | 'pipelined' | 'slow' | 'unread' | 'large';
  connections: number;
  /** Request heads and bodies, used in turn. */
  requests: readonly string[];
};

const PIPELINED = 64;
const RECONNECT_MS = 20;
const TRICKLE_MS = 1_000;
const LARGE_BYTES = 1_500_000;
const LARGE_PIECE = Buffer.alloc(64 * 1024, 'x');

const { port, firstAddress, addresses, kinds } = JSON.parse(await text(process.stdin)) as FloodPlan;
const statuses: Record<string, number> = {};
const count = (status: string): void => void (statuses[status] = (statuses[status] ?? 0) + 1);
let opened = 0;

for (const kind of kinds) for (let index = 0; index < kind.connections; index += 1) open(kind, index);

process.on('SIGTERM', () => {
  process.stdout.write(JSON.stringify(statuses));
  process.exit(0);
});

function open(kind: FloodKind, index: number): void {
  opened += 1;
  const localAddress = `127.0.${firstAddress + (opened % addresses)}.1`;
  const socket = connect({ port, host: '127.0.0.1', localAddress });
  let sent = index;
  const next = (): string => {
    sent += 1;
    return kind.requests[sent % kind.requests.length]!;
  };
  socket.on('error', (error: NodeJS.ErrnoException) => count(error.code ?? 'error'));
  socket.once('close', () => {
    if (!socket.destroyed) socket.destroy();
    count('closed');
    setTimeout(() => open(kind, index), RECONNECT_MS);
  });
  socket.once('connect', () => BEHAVIOURS[kind.kind](socket, next));
}

/** Counts the answers on a connection; every answer of the server has one status line. */
function onAnswer(socket: Socket, answered: () => void): void {
  let rest = '';
  socket.setEncoding('latin1').on('data', (piece: string) => {
    const parts = (rest + piece).split('HTTP/1.1 ');
    for (const part of parts.slice(1)) {
      if (part.length < 3) continue;
      count(part.slice(0, 3));
      answered();
    }
    rest = piece.slice(-8).includes('HTTP') ? piece.slice(-8) : '';
  });
}

const BEHAVIOURS: Record<FloodKind['kind'], (socket: Socket, next: () => string) => void> = {
  requests(socket, next) {
    onAnswer(socket, () => socket.write(next()));
    socket.write(next());
  },
  pipelined(socket, next) {
    onAnswer(socket, () => undefined);
    socket.write(Array.from({ length: PIPELINED }, next).join(''));
  },
  slow(socket, next) {
    onAnswer(socket, () => undefined);
    socket.write(next());
    const trickle = setInterval(() => socket.write('x'), TRICKLE_MS);
    socket.once('close', () => clearInterval(trickle));
  },
  unread(socket, next) {
    socket.pause();
    socket.write(next());
  },
  large(socket, next) {
    let left = 0;
    const send = (): void => {
      for (; left > 0 && socket.writable; left -= LARGE_PIECE.length) {
        if (!socket.write(LARGE_PIECE.subarray(0, Math.min(left, LARGE_PIECE.length)))) {
          left -= LARGE_PIECE.length;
          socket.once('drain', send);
          return;
        }
      }
    };
    const sendNextRequest = (): void => {
      socket.write(next());
      left = LARGE_BYTES;
      send();
    };
    onAnswer(socket, sendNextRequest);
    sendNextRequest();
  },
};
