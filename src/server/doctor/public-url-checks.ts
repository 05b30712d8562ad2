/** Checks of PUBLIC_URL, as a browser reaches it: through DNS, TLS and the proxy. */
import { isIP } from 'node:net';
import { connect } from 'node:tls';
import type { Config } from '../config/config.ts';
import { isLoopback } from '../config/private-network.ts';
import {
  describeOffset,
  fault,
  off,
  ok,
  warning,
  describeFailure,
  sendRequest,
  type Check,
  type Finding,
  type Reply,
} from './check.ts';
import { securityHeaders } from '../http/security-headers.ts';
import { parseJson } from '#server/parse-json.ts';

const DAY_MS = 86_400_000;
const CERTIFICATE_WARNING_DAYS = 14;
const PROBE_TIMEOUT_MS = 15_000;
/** The server sends the second event of the probe a second after the first. A proxy that buffers delivers both at once. */
const MIN_EVENT_GAP_MS = 500;
/** Just below the largest body that the server accepts (docs/specification/limits.md). */
const LARGE_BODY_BYTES = 3_400_000;
/** A slow line takes longer: the check is then left out. */
const BODY_TIMEOUT_MS = 8_000;

/** A token for the probe's request, and the identity of this installation's database, to compare with the answer. */
export type ProbeAccess = { token: string; database: string };

type UrlConfig = Pick<Config, 'publicUrl' | 'apiUrl'> & { auth: Pick<Config['auth'], 'clientAddressHeader'> };

export const publicUrlChecks = (
  config: UrlConfig,
  access: () => Promise<ProbeAccess | Finding>,
  now: () => Date,
): Check[] => [
  { name: 'url', run: (signal) => checkReach(config, now, signal) },
  { name: 'certificate', run: () => checkCertificate(config.publicUrl, now) },
  { name: 'redirect', run: (signal) => checkRedirect(config.publicUrl, signal) },
  { name: 'headers', run: (signal) => checkHeaders(config, signal) },
  { name: 'proxy', timeoutMs: PROBE_TIMEOUT_MS, run: (signal) => checkProxy(config, access, signal) },
];

const START =
  'Check PUBLIC_URL and DNS, start the server (npm start), and check that the proxy or firewall in front of it leads here.';

function describeUnreachable(publicUrl: string, reply: Reply): Finding {
  if (reply.status === 0) return fault(`${publicUrl}: ${reply.problem}`, START);
  if ([502, 503, 504].includes(reply.status)) {
    return fault(
      `${publicUrl} answers ${reply.status}: the proxy does not reach the server`,
      'Check that the server runs, and its HOST and PORT in the proxy.',
    );
  }
  return fault(`${publicUrl} answers ${reply.status}`, 'PUBLIC_URL leads to another program: check DNS and the proxy.');
}

async function checkReach({ publicUrl }: UrlConfig, now: () => Date, signal: AbortSignal): Promise<Finding[]> {
  const before = now().getTime();
  const reply = await sendRequest(`${publicUrl}/healthz`, { signal });
  const after = now().getTime();
  if (reply.status >= 300 && reply.status < 400) {
    const target = reply.headers.get('location');
    return [
      fault(
        `${publicUrl} redirects ${target === null ? 'without an address' : `to ${target}`}`,
        'Set PUBLIC_URL to the address at the end of the redirects.',
      ),
    ];
  }
  if (reply.status !== 200 || (reply.json as { status?: string } | undefined)?.status !== 'up')
    return [describeUnreachable(publicUrl, reply)];
  const ready = await sendRequest(`${publicUrl}/readyz`, { signal });
  const findings = [
    ready.status === 200
      ? ok(`${publicUrl} answers in ${after - before} ms and is ready`)
      : fault(
          `${publicUrl} is up but not ready (${ready.status})`,
          'Its database does not answer or lacks migrations: see "database" and the log.',
        ),
  ];
  // The header has whole seconds, so the time is taken as the middle of its second.
  const date = Date.parse(reply.headers.get('date') ?? '');
  if (!Number.isNaN(date))
    findings.push(describeOffset(publicUrl, date + 500 - (before + after) / 2, 500 + (after - before) / 2));
  return findings;
}

type Certificate = { validTo: Date; validFrom: Date; problem: string | null; code: string };

function readCertificate(host: string, port: number): Promise<Certificate> {
  return new Promise((resolve, reject) => {
    // Reads an invalid certificate too: nothing is sent over this connection.
    const socket = connect(
      { host, port, ...(isIP(host) === 0 && { servername: host }), rejectUnauthorized: false },
      () => {
        const { valid_to, valid_from } = socket.getPeerCertificate();
        const error = socket.authorized ? null : socket.authorizationError;
        const { problem, code } = error
          ? describeFailure(
              error instanceof Error ? error : Object.assign(new Error(String(error)), { code: String(error) }),
            )
          : { problem: null, code: '' };
        resolve({ validTo: new Date(valid_to), validFrom: new Date(valid_from), problem, code });
        socket.destroy();
      },
    );
    socket.once('error', reject);
  });
}

async function checkCertificate(publicUrl: string, now: () => Date): Promise<Finding[]> {
  const { protocol, hostname, port } = new URL(publicUrl);
  if (protocol !== 'https:') {
    if (isLoopback(hostname)) return [off('PUBLIC_URL is on this machine, without TLS')];
    return [
      fault(
        `${publicUrl} is not encrypted`,
        'Put a proxy with a certificate in front, and set PUBLIC_URL to its https address: passwords cross the network in the clear.',
      ),
    ];
  }
  let certificate: Certificate;
  try {
    certificate = await readCertificate(hostname, port === '' ? 443 : Number(port));
  } catch (error) {
    return [
      fault(
        `no TLS at ${publicUrl}: ${describeFailure(error).problem}`,
        'Check PUBLIC_URL and DNS, then the port and the TLS settings of the proxy.',
      ),
    ];
  }
  const days = Math.floor((certificate.validTo.getTime() - now().getTime()) / DAY_MS);
  const fix =
    'Renew it (certbot renew, or restart the proxy that renews it), and check that the proxy loads the new one.';
  if (days < 0) return [fault(`the certificate expired on ${certificate.validTo.toISOString().slice(0, 10)}`, fix)];
  if (certificate.problem !== null) {
    return [
      fault(
        `browsers refuse the certificate: ${certificate.problem}`,
        'Send the full chain (fullchain.pem) of a certificate for exactly this name.',
      ),
    ];
  }
  if (days < CERTIFICATE_WARNING_DAYS) return [warning(`the certificate expires in ${days} days`, fix)];
  return [ok(`the certificate is valid for ${days} days`)];
}

async function checkRedirect(publicUrl: string, signal: AbortSignal): Promise<Finding[]> {
  const { protocol, hostname, port } = new URL(publicUrl);
  if (protocol !== 'https:' || port !== '') return [off('PUBLIC_URL is not https on its usual port')];
  const reply = await sendRequest(`http://${hostname}/`, { signal });
  if (reply.status === 0) return [ok(`nothing answers at http://${hostname}: ${reply.problem}`)];
  const target = reply.headers.get('location') ?? '';
  if (reply.status >= 300 && reply.status < 400 && target.startsWith('https://'))
    return [ok(`http://${hostname} redirects to https`)];
  return [
    warning(
      `http://${hostname} answers ${reply.status} instead of redirecting to https`,
      'Let the proxy redirect port 80 with 301, or close it.',
    ),
  ];
}

async function checkHeaders(config: UrlConfig, signal: AbortSignal): Promise<Finding[]> {
  const reply = await sendRequest(`${config.publicUrl}/`, { headers: { Accept: 'text/html' }, signal });
  // The check "url" reports a server that cannot be reached.
  if (reply.status === 0 || reply.status >= 400) return [];
  const changed = securityHeaders(config).page.flatMap(([name, value]) => {
    const found = reply.headers.get(name);
    if (found === null) return [`${name} is missing`];
    if (found === value) return [];
    return [found.includes(value) ? `${name} is sent twice` : `${name} is another`];
  });
  if (changed.length === 0) return [ok('the security headers arrive as they were sent')];
  return [
    warning(
      `the proxy changes the security headers: ${changed.join(', ')}`,
      'Remove what the proxy sets itself (add_header in nginx): the server sends all of them.',
    ),
  ];
}

type Probe = { address: string; host: string; database: string };

async function checkProxy(
  { publicUrl, auth }: UrlConfig,
  access: () => Promise<ProbeAccess | Finding>,
  signal: AbortSignal,
): Promise<Finding[]> {
  const granted = await access();
  if ('status' in granted) return [granted];
  // Sends a forged client address. A proxy must replace it, or append the real one: the server trusts the last entry.
  const forged = '203.0.113.77';
  const header = auth.clientAddressHeader;
  let response: Response;
  try {
    response = await fetch(`${publicUrl}/auth/v1/admin/connection`, {
      headers: { Authorization: `Bearer ${granted.token}`, ...(header !== null && { [header]: forged }) },
      redirect: 'manual',
      signal,
    });
  } catch {
    // The check "url" reports this fault.
    return [];
  }
  if (response.status === 401 || response.status === 403) {
    await response.body?.cancel();
    return [
      fault(
        `${publicUrl} does not accept our signing key`,
        'It leads to another installation, or its proxy removes the header Authorization. Check DNS, and that every server has the same keys.',
      ),
    ];
  }
  if (response.status !== 200 || !response.body) {
    await response.body?.cancel();
    return [
      warning(
        `${publicUrl} does not know the doctor's request (${response.status})`,
        'An older version of the program serves there: restart it.',
      ),
    ];
  }
  const events = await readEvents(response.body);
  const probe = parseJson(/^data: (.*)$/m.exec(events.text)?.[1] ?? '') as Probe | undefined;
  if (probe === undefined) return [fault('the proxy cut the answer off', 'Raise its read time-out above 10 s.')];
  return [
    ...describeProbe(probe, granted, { publicUrl, header, forged }),
    describeBuffering(events),
    ...(await checkBodySize(publicUrl, signal)),
  ];
}

/** The server refuses this request, because nobody is signed in. A proxy that allows only smaller bodies answers 413. */
async function checkBodySize(publicUrl: string, signal: AbortSignal): Promise<Finding[]> {
  const reply = await sendRequest(`${publicUrl}/functions/v1/import-entries`, {
    ...{ method: 'POST', headers: { 'Content-Type': 'application/json' }, body: 'x'.repeat(LARGE_BODY_BYTES) },
    signal: AbortSignal.any([signal, AbortSignal.timeout(BODY_TIMEOUT_MS)]),
  });
  if (reply.status !== 413) return [];
  return [
    warning(
      'the proxy refuses bodies of 3.4 MB, so imports fail',
      'Raise its limit to 4 MB (nginx: client_max_body_size 4m).',
    ),
  ];
}

function describeProbe(
  probe: Probe,
  { database }: ProbeAccess,
  { publicUrl, header, forged }: { publicUrl: string; header: string | null; forged: string },
): Finding[] {
  const { hostname, host } = new URL(publicUrl);
  if (probe.database !== database) {
    return [
      fault(
        `${publicUrl} serves another database than this one`,
        'It leads to another installation with the same keys, such as the old one after a move: check DNS.',
      ),
    ];
  }
  const findings = [ok(`${publicUrl} is this installation`)];
  if (probe.host !== host) {
    findings.push(
      warning(
        `the proxy sends the host "${probe.host}" instead of "${host}"`,
        'Forward Host unchanged (nginx: proxy_set_header Host $host).',
      ),
    );
  }
  const isOnThisMachine = isLoopback(hostname);
  if (header === null) {
    if (!isOnThisMachine && (isLoopback(probe.address) || isPrivate(probe.address))) {
      findings.push(
        warning(
          `all users seem to come from ${probe.address}, so one can use up the limits of all`,
          'Set CLIENT_ADDRESS_HEADER to the header in which your proxy sends the address (X-Forwarded-For).',
        ),
      );
    }
  } else if (probe.address === forged) {
    findings.push(
      fault(
        `anybody can forge an address: the proxy passes ${header} on as the client sent it`,
        'Let the proxy append or replace it (nginx: proxy_set_header X-Forwarded-For $proxy_add_x_forwarded_for), or unset CLIENT_ADDRESS_HEADER without a proxy.',
      ),
    );
  } else {
    findings.push(ok(`the proxy sends the address of the client in ${header}`));
  }
  return findings;
}

const isPrivate = (address: string): boolean => /^(10\.|192\.168\.|172\.(1[6-9]|2\d|3[01])\.|f[cd])/i.test(address);

type Events = { text: string; gapMs: number };

/** Reads to the end, and measures the time between the first and the last event. */
async function readEvents(body: ReadableStream<Uint8Array>): Promise<Events> {
  const decoder = new TextDecoder();
  const arrivals: number[] = [];
  let text = '';
  const reader = body.getReader();
  for (;;) {
    const { done, value } = await reader.read();
    if (done) break;
    text += decoder.decode(value, { stream: true });
    const events = text.split('\n\n').length - 1;
    while (arrivals.length < events) arrivals.push(performance.now());
  }
  return { text, gapMs: (arrivals.at(-1) ?? 0) - (arrivals[0] ?? 0) };
}

const describeBuffering = ({ gapMs }: Events): Finding =>
  gapMs >= MIN_EVENT_GAP_MS
    ? ok('events pass the proxy at once')
    : warning(
        'the proxy holds events back until the answer ends, so changes of other devices show late',
        'Turn buffering and compression off for text/event-stream (nginx: proxy_buffering off; gzip off).',
      );
