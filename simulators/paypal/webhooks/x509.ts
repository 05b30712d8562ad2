/**
 * Writes X.509 certificates (RFC 5280), as far as the simulator's own need goes: a name, a key, two dates, an issuer. The
 * signing is Node's; this is only the DER around it. Libraries that do this want a reflection polyfill and start slowly.
 */
import { randomBytes, sign } from 'node:crypto';
import type { KeyObject } from 'node:crypto';

type Pair = { readonly publicKey: KeyObject; readonly privateKey: KeyObject };

export type CertificateWish = {
  /** The common name, and for a leaf its DNS name as well. */
  name: string;
  keys: Pair;
  issuer: { name: string; keys: Pair };
  authority: boolean;
  notBefore: Date;
  notAfter: Date;
};

const tag = (kind: number, ...parts: Uint8Array[]): Buffer => {
  const content = Buffer.concat(parts);
  const { length } = content;
  if (length < 0x80) return Buffer.concat([Buffer.from([kind, length]), content]);
  const bytes = length < 0x100 ? [0x81, length] : [0x82, length >> 8, length & 0xff];
  return Buffer.concat([Buffer.from([kind, ...bytes]), content]);
};

const sequence = (...parts: Uint8Array[]): Buffer => tag(0x30, ...parts);
const set = (...parts: Uint8Array[]): Buffer => tag(0x31, ...parts);
const octets = (content: Uint8Array): Buffer => tag(0x04, content);
const bits = (content: Uint8Array, unused = 0): Buffer => tag(0x03, Buffer.from([unused]), content);
const TRUE = tag(0x01, Buffer.from([0xff]));
const NULL = tag(0x05);

/** The first two numbers share a byte; the others are base 128 with a continuation bit. */
function oid(dotted: string): Buffer {
  const [first = 0, second = 0, ...others] = dotted.split('.').map(Number);
  const bytes = [first * 40 + second];
  for (const number of others) {
    const digits = [number & 0x7f];
    for (let rest = number >> 7; rest > 0; rest >>= 7) digits.unshift((rest & 0x7f) | 0x80);
    bytes.push(...digits);
  }
  return tag(0x06, Buffer.from(bytes));
}

const time = (date: Date): Buffer => {
  const digits = date.toISOString().replace(/\D/g, '').slice(0, 14);
  // RFC 5280 wants two digits for the year before 2050.
  return date.getUTCFullYear() < 2050
    ? tag(0x17, Buffer.from(`${digits.slice(2)}Z`))
    : tag(0x18, Buffer.from(`${digits}Z`));
};

const commonName = (name: string): Buffer =>
  sequence(set(sequence(oid('2.5.4.3'), tag(0x0c, Buffer.from(name, 'utf8')))));

const extension = (id: string, critical: boolean, value: Buffer): Buffer =>
  sequence(oid(id), ...(critical ? [TRUE] : []), octets(value));

function extensions({ authority, name }: CertificateWish): Buffer {
  const keyUsage = authority ? bits(Buffer.from([0b0000_0110]), 1) : bits(Buffer.from([0b1000_0000]), 7);
  return tag(
    0xa3,
    sequence(
      extension('2.5.29.19', true, authority ? sequence(TRUE) : sequence()),
      extension('2.5.29.15', true, keyUsage),
      ...(authority ? [] : [extension('2.5.29.17', false, sequence(tag(0x82, Buffer.from(name, 'ascii'))))]),
    ),
  );
}

/** A certificate as PEM text. */
export function writeCertificate(wish: CertificateWish): string {
  const { issuer, keys, name, notBefore, notAfter } = wish;
  const { privateKey } = issuer.keys;
  const algorithm =
    privateKey.asymmetricKeyType === 'rsa'
      ? sequence(oid('1.2.840.113549.1.1.11'), NULL)
      : sequence(oid('1.2.840.10045.4.3.2'));
  // A serial number is positive and its first bit therefore clear.
  const serial = Buffer.concat([Buffer.from([0x4a]), randomBytes(15)]);
  const body = sequence(
    tag(0xa0, tag(0x02, Buffer.from([2]))),
    tag(0x02, serial),
    algorithm,
    commonName(issuer.name),
    sequence(time(notBefore), time(notAfter)),
    commonName(name),
    keys.publicKey.export({ type: 'spki', format: 'der' }),
    extensions(wish),
  );
  const whole = sequence(body, algorithm, bits(sign('sha256', body, privateKey)));
  const lines = whole.toString('base64').match(/.{1,64}/g) ?? [];
  return `-----BEGIN CERTIFICATE-----\n${lines.join('\n')}\n-----END CERTIFICATE-----\n`;
}
