/**
 * A DNS server on loopback that answers TXT, MX and addresses from a function (RFC 1035), so that a mail can be
 * authenticated.
 */
import { createSocket } from 'node:dgram';

/** The texts of `TXT`, the names of `MX`. Null: the name does not exist. Silence: the client waits for an answer. */
export type DnsAnswer = readonly string[] | null | 'SERVFAIL' | 'silence';
/** @param name in lower case */
export type LookUp = (name: string, type: 'TXT' | 'MX' | 'other') => DnsAnswer;
export type DnsServer = { readonly address: string; close(): Promise<void> };

const TXT = 16;
const MX = 15;
const HEADER_BYTES = 12;

export async function startDnsServer(lookUp: LookUp): Promise<DnsServer> {
  const socket = createSocket('udp4');
  socket.on('message', (query, { port, address }) => {
    const answer = answerTo(query, lookUp);
    if (answer) socket.send(answer, port, address);
  });
  await new Promise<void>((listening) => socket.bind(0, '127.0.0.1', listening));
  return {
    address: `127.0.0.1:${socket.address().port}`,
    close: () => new Promise((closed) => socket.close(() => closed())),
  };
}

function answerTo(query: Buffer, lookUp: LookUp): Buffer | null {
  if (query.length < HEADER_BYTES + 5) return null;
  const labels: string[] = [];
  let at = HEADER_BYTES;
  for (let length = query[at]!; length > 0 && at < query.length; length = query[at]!) {
    labels.push(query.toString('latin1', at + 1, at + 1 + length));
    at += 1 + length;
  }
  const question = query.subarray(HEADER_BYTES, at + 5);
  const type = query.readUInt16BE(at + 1);
  const found = lookUp(labels.join('.').toLowerCase(), type === TXT ? 'TXT' : type === MX ? 'MX' : 'other');
  if (found === 'silence') return null;
  const toRecord = type === TXT ? txtRecord : type === MX ? mxRecord : null;
  const records = toRecord && Array.isArray(found) ? found.map(toRecord) : [];
  const header = Buffer.alloc(HEADER_BYTES);
  query.copy(header, 0, 0, 2);
  // An answer with recursion; SERVFAIL, or NXDOMAIN for an unknown name.
  header.writeUInt16BE(0x8180 + (found === 'SERVFAIL' ? 2 : found === null ? 3 : 0), 2);
  header.writeUInt16BE(1, 4);
  header.writeUInt16BE(records.length, 6);
  return Buffer.concat([header, question, ...records]);
}

function txtRecord(text: string): Buffer {
  const parts: Buffer[] = [];
  for (let at = 0; at < text.length; at += 255) {
    const part = Buffer.from(text.slice(at, at + 255));
    parts.push(Buffer.from([part.length]), part);
  }
  return record(TXT, Buffer.concat(parts));
}

/** With the preference 10. */
function mxRecord(exchange: string): Buffer {
  const labels = exchange.split('.').map((label) => Buffer.from([label.length, ...Buffer.from(label)]));
  return record(MX, Buffer.concat([Buffer.from([0, 10]), ...labels, Buffer.from([0])]));
}

function record(type: number, data: Buffer): Buffer {
  // The name is that of the question, class IN, five minutes.
  const head = Buffer.from([0xc0, HEADER_BYTES, 0, type, 0, 1, 0, 0, 1, 44, 0, 0]);
  head.writeUInt16BE(data.length, 10);
  return Buffer.concat([head, data]);
}
