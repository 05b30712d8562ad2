/**
 * Checks whether the domain of a mail's sender vouches for the mail (docs/specification/habit.md 5): by a DKIM
 * signature or SPF of a domain that DMARC aligns with it or, without a DMARC policy, of exactly this domain.
 *
 * Threat: anyone may write any address into From. The token of the reply address is a secret of the mailbox, but mails
 * are forwarded and quoted, so it alone proves nothing.
 */
import { Resolver } from 'node:dns/promises';
import type { DKIMResult } from 'mailauth';
import { getDomain } from 'tldts';
import { domainOf, type InboundMail } from './inbound.ts';

/** `unknown`: DNS does not answer now. */
export type Authenticity = 'pass' | 'fail' | 'unknown';

export type Claim = {
  raw: Buffer;
  /** The one address in From. */
  from: string;
  arrival: InboundMail['arrival'];
  /** Whether these lines of the header, which a signature covers, show that the mail was written to us. */
  isMeantForUs(signedLines: readonly string[]): boolean;
};
export type AuthenticateMail = (claim: Claim) => Promise<Authenticity>;

const DNS_TIMEOUT_MS = 1_500;
/**
 * The limit for the check of one mail. After it the result is `unknown`, and the sending server is asked to try again.
 */
const MAX_MS = 5_000;
const MIN_KEY_BITS = 1024;

type Resolve = (name: string, type: string) => Promise<string[][] | string[]>;

/** @param servers addresses of DNS servers; empty: those of the machine */
export function createAuthenticator(servers: readonly string[], hostName: string): AuthenticateMail {
  const dns = new Resolver({ timeout: DNS_TIMEOUT_MS, tries: 2 });
  if (servers.length > 0) dns.setServers([...servers]);
  return async (claim) => {
    // Loaded with the first mail: it takes megabytes, and most servers receive few mails.
    const mailauth = await import('mailauth');
    const limit = AbortSignal.timeout(MAX_MS);
    const resolve: Resolve = (name, type) =>
      limit.aborted ? Promise.reject(dnsError('ETIMEOUT')) : (dns.resolve(name, type) as ReturnType<Resolve>);
    const late = new Promise<'unknown'>((resolved) => {
      limit.addEventListener('abort', () => resolved('unknown'), { once: true });
    });
    return Promise.race([authenticate(mailauth, claim, resolve, hostName), late]);
  };
}

const dnsError = (code: string): Error => Object.assign(new Error(`DNS was not asked: ${code}`), { code });

/**
 * The registrable domain, by the public suffix list: one owner has registered it. Threat: the customers of `github.io`
 * or `eu.org` have sibling domains. DMARC's tree walk takes these for domains of one owner unless the suffix says
 * otherwise in DNS.
 */
const ownerOf = (domain: string): string => getDomain(domain, { allowPrivateDomains: true }) ?? domain;

async function authenticate(
  { dkimVerify, dmarc, spf: verifySpf }: typeof import('mailauth'),
  claim: Claim,
  resolve: Resolve,
  hostName: string,
): Promise<Authenticity> {
  const fromDomain = domainOf(claim.from);
  const owner = ownerOf(fromDomain);
  const isOwners = (domain: string): boolean => ownerOf(domain) === owner;

  const dkim = await dkimVerify(withCrlf(claim.raw), {
    // Threat: a mail names up to ten domains of a stranger, whose servers answer slowly. Their signatures would prove
    // nothing.
    resolver: (name, type) =>
      isOwners(name.slice(name.lastIndexOf('._domainkey.') + '._domainkey.'.length))
        ? resolve(name, type)
        : Promise.reject(dnsError('ENOTFOUND')),
    sender: claim.from,
    minBitLength: MIN_KEY_BITS,
    rejectRsaSha1: true,
  });
  const signers = dkim.results
    .filter((signature) => isSound(signature, claim))
    .map(({ signingDomain = '' }) => signingDomain.toLowerCase());
  const spf = await checkSpf(claim.arrival, isOwners, (options) =>
    verifySpf({ ...options, mta: hostName, resolver: resolve }),
  );

  const result = await dmarc({
    headerFrom: dkim.headerFrom,
    fromFields: dkim.fromFields,
    dkimDomains: signers.map((domain) => ({ domain })),
    spfDomains: spf.domain === null ? [] : [spf.domain],
    resolver: resolve,
  });
  const policy = result ? result.status.result : 'fail';
  if (policy === 'pass') return 'pass';
  // A domain without a policy does not say whether its subdomains are its own or those of customers: only the exact
  // domain counts.
  if (policy === 'none' && [...signers, spf.domain].includes(fromDomain)) return 'pass';
  const isUnknown =
    policy === 'temperror' || spf.isUnknown || dkim.results.some(({ status }) => status.result === 'temperror');
  return isUnknown ? 'unknown' : 'fail';
}

/**
 * Threat: with `l=` a signature covers the beginning of a mail, and anybody may append to it. A header that it does not
 * cover may be added or changed, so that a mail to a list becomes one to us.
 */
function isSound({ status, signingHeaders }: DKIMResult, { isMeantForUs }: Claim): boolean {
  return status.result === 'pass' && !status.underSized && isMeantForUs(signingHeaders?.headers ?? []);
}

type SpfResult = { domain: string | null; isUnknown: boolean };
const NO_SPF: SpfResult = { domain: null, isUnknown: false };

/**
 * The domain of the envelope's sender, if SPF passes for it and its owner also owns the domain in From; otherwise null.
 */
async function checkSpf(
  arrival: Claim['arrival'],
  isOwners: (domain: string) => boolean,
  verify: (options: { ip: string; helo: string; sender: string }) => ReturnType<(typeof import('mailauth'))['spf']>,
): Promise<SpfResult> {
  if (arrival === null) return NO_SPF;
  const domain = 'spfDomain' in arrival ? arrival.spfDomain.toLowerCase() : domainOf(arrival.mailFrom);
  if (!isOwners(domain)) return NO_SPF;
  if ('spfDomain' in arrival) return { domain, isUnknown: false };
  const { ip, helo, mailFrom } = arrival;
  const { status } = await verify({ ip, helo, sender: mailFrom });
  return { domain: status.result === 'pass' ? domain : null, isUnknown: status.result === 'temperror' };
}

/**
 * Some providers hand on a mail with bare line feeds. A signature covers the lines as they travelled, which end with
 * CRLF.
 */
function withCrlf(raw: Buffer): Buffer {
  return raw.includes('\r\n') ? raw : Buffer.from(raw.toString('latin1').replaceAll('\n', '\r\n'), 'latin1');
}
