/**
 * The certificates that PayPal signs its webhooks with. Whoever calls the webhook names the address of one, so which
 * addresses are asked at all, and which certificates are believed, is decided here.
 *
 * Threats: a request forged by naming an address inside our network or a certificate of the caller's own; a stream of
 * invented addresses that makes us ask PayPal as often as somebody likes, or that uses up what we ask in a minute and so
 * keeps us from ever hearing that money went back.
 */
import { X509Certificate } from 'node:crypto';
import { rootCertificates } from 'node:tls';
import { LRUCache } from 'lru-cache';
import type { Clock } from '../clock.ts';
import { readText } from './paypal/send.ts';

const KEPT = 20;
const KEPT_FOR_MS = 24 * 60 * 60_000;
const ASKED_PER_MINUTE = 20;
const MAX_BYTES = 64 * 1024;
const MAX_CERTIFICATES = 10;
const ANSWER_WITHIN_MS = 5000;
const MIN_KEY_BITS = 2048;

/** The leaf, and whether a chain of valid issuers leads from it to a root that this machine trusts. */
export type SigningCertificate = {
  readonly leaf: X509Certificate;
  /** `incomplete`: nothing speaks against it, but an issuer between it and a root was not sent along. */
  readonly chain: 'trusted' | 'incomplete';
};

/** The certificate is not one of PayPal's: nothing that it signed is believed. */
export class CertificateRefused extends Error {}
/** It could not be fetched now; that says nothing about the event. */
export class CertificateUnavailable extends Error {}

export type CertificateDeps = {
  hosts: readonly string[];
  clock: Clock;
  fetch?: typeof fetch;
  /** Further trust anchors, PEM. */
  trusted?: readonly string[];
};

export type Certificates = { get(address: string): Promise<SigningCertificate> };

export function createCertificates({ hosts, clock, trusted = [], ...deps }: CertificateDeps): Certificates {
  const fetchUrl = deps.fetch ?? fetch;
  const kept = new LRUCache<string, { certificate: SigningCertificate; until: number }>({ max: KEPT });
  const underWay = new Map<string, Promise<SigningCertificate>>();
  /** Addresses that have shown a certificate of PayPal's. */
  const proven = new LRUCache<string, true>({ max: KEPT });
  const mayAsk = { proven: createAllowance(clock), invented: createAllowance(clock) };

  async function fetchAndJudge(address: string): Promise<SigningCertificate> {
    const now = clock.now();
    const mayAskNow = proven.get(address) ? mayAsk.proven : mayAsk.invented;
    if (!mayAskNow()) throw new CertificateUnavailable('too many certificates asked for');
    const text = await download(address, fetchUrl);
    const { endsAt, ...certificate } = judge(text, { hosts, trusted, now });
    proven.set(address, true);
    kept.set(address, { certificate, until: Math.min(now.getTime() + KEPT_FOR_MS, endsAt.getTime()) });
    return certificate;
  }

  return {
    async get(address) {
      if (!isAllowedAddress(address, hosts)) throw new CertificateRefused('an address that is not PayPal’s');
      const held = kept.get(address);
      if (held && clock.now().getTime() < held.until) return held.certificate;
      let fetching = underWay.get(address);
      if (!fetching) {
        fetching = fetchAndJudge(address).finally(() => underWay.delete(address));
        underWay.set(address, fetching);
      }
      return fetching;
    },
  };
}

function createAllowance(clock: Clock): () => boolean {
  let asked = { minute: 0, times: 0 };
  return () => {
    const minute = Math.floor(clock.now().getTime() / 60_000);
    asked = { minute, times: asked.minute === minute ? asked.times + 1 : 1 };
    return asked.times <= ASKED_PER_MINUTE;
  };
}

/** One certificate has one address: with a query, each of any number would show it, and push out those that are kept. */
const PLAIN_PATH = /^(\/[A-Za-z0-9._-]+)+$/;

/** Only https on its usual port, and only hosts of the setting; an origin in the setting (a simulator's) stands for itself. */
function isAllowedAddress(address: string, hosts: readonly string[]): boolean {
  const url = address.length <= 500 && URL.canParse(address) ? new URL(address) : null;
  // What is not written as it is understood hides something.
  if (url === null || url.href !== address || url.username !== '' || url.password !== '' || url.hash !== '')
    return false;
  if (url.search !== '' || !PLAIN_PATH.test(url.pathname)) return false;
  if (hosts.includes(url.origin)) return true;
  return url.protocol === 'https:' && url.port === '' && isNameOf(url.hostname, hosts);
}

/** `*.paypal.com` stands for every name below paypal.com, and for no other name that ends like it. */
const isNameOf = (name: string, hosts: readonly string[]): boolean =>
  hosts.some((host) => (host.startsWith('*.') ? name.endsWith(host.slice(1)) : name === host));

async function download(address: string, fetchUrl: typeof fetch): Promise<string> {
  let status: number;
  let text: string;
  try {
    const response = await fetchUrl(address, { redirect: 'manual', signal: AbortSignal.timeout(ANSWER_WITHIN_MS) });
    status = response.status;
    text = await readText(response, MAX_BYTES);
  } catch (error) {
    throw new CertificateUnavailable('no answer', { cause: error });
  }
  if (status >= 500 || status === 429) throw new CertificateUnavailable(`answered ${status}`);
  if (status !== 200) throw new CertificateRefused(`answered ${status}`);
  return text;
}

type Trust = { hosts: readonly string[]; trusted: readonly string[]; now: Date };

function judge(text: string, { hosts, trusted, now }: Trust): SigningCertificate & { endsAt: Date } {
  const pems = text.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? [];
  if (pems.length > MAX_CERTIFICATES) throw new CertificateRefused('too many certificates');
  const [leaf, ...others] = pems.map(readCertificate);
  if (leaf === undefined) throw new CertificateRefused('no certificate in it');
  if (!isValidAt(leaf, now)) throw new CertificateRefused('not valid now');
  if (!namesOf(leaf).some((name) => isNameOf(name, hosts))) throw new CertificateRefused('for another name');
  const { asymmetricKeyType, asymmetricKeyDetails } = leaf.publicKey;
  if (asymmetricKeyType !== 'rsa' || (asymmetricKeyDetails?.modulusLength ?? 0) < MIN_KEY_BITS) {
    throw new CertificateRefused('a key of another kind');
  }
  if (leaf.issuer === leaf.subject) throw new CertificateRefused('signed by itself');
  const roots = [...trusted, ...rootCertificates].map(readCertificate);
  const issuers = issuersOf(leaf, others, roots, now);
  const ends = [leaf, ...(issuers ?? [])].map(({ validToDate }) => validToDate.getTime());
  return { leaf, chain: issuers === null ? 'incomplete' : 'trusted', endsAt: new Date(Math.min(...ends)) };
}

/** From the one that signed the certificate to a root, or null. Those that were sent along are used once each. */
function issuersOf(
  certificate: X509Certificate,
  others: readonly X509Certificate[],
  roots: readonly X509Certificate[],
  now: Date,
): X509Certificate[] | null {
  const signed = (issuer: X509Certificate): boolean =>
    issuer.ca && isValidAt(issuer, now) && certificate.checkIssued(issuer) && certificate.verify(issuer.publicKey);
  const root = roots.find(signed);
  if (root) return [root];
  for (const issuer of others.filter(signed)) {
    const unused = others.filter((other) => other !== issuer);
    const further = issuersOf(issuer, unused, roots, now);
    if (further) return [issuer, ...further];
  }
  return null;
}

function readCertificate(pem: string): X509Certificate {
  try {
    return new X509Certificate(pem);
  } catch (error) {
    throw new CertificateRefused('a certificate that cannot be read', { cause: error });
  }
}

const isValidAt = (certificate: X509Certificate, now: Date): boolean =>
  certificate.validFromDate <= now && now <= certificate.validToDate;

/** DNS names alone; a name of any other kind, or one that has to be quoted, is none of PayPal's. */
const namesOf = ({ subjectAltName = '' }: X509Certificate): string[] =>
  subjectAltName.split(', ').flatMap((name) => /^DNS:([a-z0-9.-]+)$/.exec(name)?.[1] ?? []);
