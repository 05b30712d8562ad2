/**
 * Whether the domain of a sender vouches for a mail (docs/specification/habit.md 5): DMARC passes, or, without a policy, a DKIM
 * signature or SPF of the sender's own domain.
 *
 * Threat: anyone may write any address into From. The token of the reply address is a secret of the mailbox, but mails are
 * forwarded and quoted, so it alone proves nothing.
 */
import { Resolver } from 'node:dns/promises';

/** How a mail arrived by SMTP; null for a webhook, whose provider has spoken SMTP. */
export type Arrival = { ip: string; helo: string; mailFrom: string };
/** `unknown`: DNS does not answer now. */
export type Authenticity = 'pass' | 'fail' | 'unknown';
export type AuthenticateMail = (mail: { raw: Buffer; from: string; arrival: Arrival | null }) => Promise<Authenticity>;

const DNS_TIMEOUT_MS = 3_000;
const MAX_MS = 20_000;
const MIN_KEY_BITS = 1024;

/** @param servers addresses of DNS servers; empty: those of the machine */
export function createAuthenticator(servers: readonly string[], hostName: string): AuthenticateMail {
  const dns = new Resolver({ timeout: DNS_TIMEOUT_MS, tries: 2 });
  if (servers.length > 0) dns.setServers([...servers]);
  const resolver = (name: string, type: string): Promise<string[][] | string[]> =>
    dns.resolve(name, type) as Promise<string[][] | string[]>;
  return async ({ raw, from, arrival }) => {
    // Loaded with the first mail: it takes megabytes, and most servers receive few mails.
    const { authenticate } = await import('mailauth');
    const limit = AbortSignal.timeout(MAX_MS);
    const late = new Promise<'unknown'>((resolve) => {
      limit.addEventListener('abort', () => resolve('unknown'), { once: true });
    });
    const checked = authenticate(withCrlf(raw), {
      resolver,
      mta: hostName,
      minBitLength: MIN_KEY_BITS,
      rejectRsaSha1: true,
      disableArc: true,
      disableBimi: true,
      ...(arrival && { ip: arrival.ip, helo: arrival.helo, sender: arrival.mailFrom }),
    }).then((result) => judge(result, from.slice(from.lastIndexOf('@') + 1), arrival !== null));
    return Promise.race([checked, late]);
  };
}

type Result = Awaited<ReturnType<(typeof import('mailauth'))['authenticate']>>;

function judge({ dmarc, dkim, spf }: Result, fromDomain: string, hasArrival: boolean): Authenticity {
  // Threat: with `l=` a signature covers the beginning of a mail, and anybody may append to it.
  const signatures = dkim.results.filter(({ status }) => status.result === 'pass' && !status.underSized);
  const signers = signatures.map(({ signingDomain }) => signingDomain?.toLowerCase());
  const sentBy = hasArrival && spf && spf.status.result === 'pass' ? spf.domain.toLowerCase() : null;
  const policy = dmarc ? dmarc.status.result : 'none';
  if (dmarc && policy === 'pass') {
    const { alignment } = dmarc;
    const byDkim = alignment?.dkim.result && signers.includes(alignment.dkim.result.toLowerCase());
    return byDkim || alignment?.spf.result ? 'pass' : 'fail';
  }
  if (policy === 'none') {
    const isOwn = (domain: string | null | undefined): boolean =>
      !!domain && (domain === fromDomain || domain.endsWith(`.${fromDomain}`));
    if (isOwn(sentBy) || signers.some(isOwn) || signatures.some(({ status }) => status.aligned)) return 'pass';
  }
  const isUnknown =
    policy === 'temperror' ||
    dkim.results.some(({ status }) => status.result === 'temperror') ||
    (spf && spf.status.result === 'temperror');
  return isUnknown ? 'unknown' : 'fail';
}

/** Some providers hand on a mail with bare line feeds. A signature covers the lines as they travelled. */
function withCrlf(raw: Buffer): Buffer {
  return raw.includes('\r\n') ? raw : Buffer.from(raw.toString('latin1').replaceAll('\n', '\r\n'), 'latin1');
}
