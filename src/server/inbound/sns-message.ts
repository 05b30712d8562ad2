/**
 * Verifies messages of Amazon SNS (https://docs.aws.amazon.com/sns/latest/dg/sns-verify-signature-of-message.html).
 *
 * Threat: the address of the certificate stands in the message, so a stranger would name one of their own, or one
 * inside of our network. It must be Amazon's file of the region of our topic. Only signatures of version 2 count:
 * version 1 is SHA-1, and the sender of a mail chooses most of what is signed.
 */
import { createVerify, X509Certificate } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import type { Clock } from '../clock.ts';
import { TOPIC_ARN } from '../config/provider-settings.ts';
import { RateLimiterMemory, isWithinLimit } from '../http/rate-limit-store.ts';
import { BusyError } from '../load/request-context.ts';
import { parseJson, readResponseText } from '../parse-json.ts';

export type SnsMessage = {
  Type: string;
  MessageId: string;
  TopicArn: string;
  Message: string;
  Timestamp: string;
  SignatureVersion: string;
  Signature: string;
  SigningCertURL: string;
  Subject?: string;
  Token?: string;
  SubscribeURL?: string;
};

/** Gets a small text over https without following redirects. */
export type FetchText = (url: string) => Promise<string>;

const REQUIRED = [
  'Type',
  'MessageId',
  'TopicArn',
  'Message',
  'Timestamp',
  'SignatureVersion',
  'Signature',
  'SigningCertURL',
] as const;

/** A message has about ten fields. */
const MAX_JSON_VALUES = 100;

export function parseSnsMessage(body: Uint8Array): SnsMessage | null {
  const text = new TextDecoder().decode(body);
  const message = parseJson(text, MAX_JSON_VALUES) as Record<string, unknown> | null | undefined;
  const isText = (name: string): boolean => typeof message?.[name] === 'string';
  const isWhole =
    REQUIRED.every(isText) &&
    ['Subject', 'Token', 'SubscribeURL'].every((name) => message?.[name] === undefined || isText(name));
  return isWhole ? (message as SnsMessage) : null;
}

const SIGNED: Readonly<Record<string, readonly (keyof SnsMessage)[]>> = {
  Notification: ['Message', 'MessageId', 'Subject', 'Timestamp', 'TopicArn', 'Type'],
  SubscriptionConfirmation: ['Message', 'MessageId', 'SubscribeURL', 'Timestamp', 'Token', 'TopicArn', 'Type'],
  UnsubscribeConfirmation: ['Message', 'MessageId', 'SubscribeURL', 'Timestamp', 'Token', 'TopicArn', 'Type'],
};

function hostOf(topic: string): string {
  const [, partition, region] = TOPIC_ARN.exec(topic) ?? [];
  return `sns.${region}.amazonaws.com${partition === 'aws-cn' ? '.cn' : ''}`;
}

const MAX_FETCHES_PER_MINUTE = 10;

/** SNS repeats a message for an hour at most. Threat: a message that somebody has seen is posted again later. */
const MAX_AGE_MS = 2 * 3_600_000;

const isAt = (text: string | undefined, host: string): boolean => {
  const url = URL.parse(text ?? '');
  return url !== null && url.protocol === 'https:' && url.host === host && url.username === '' && url.password === '';
};

const CERTIFICATE_FILE = /^SimpleNotificationService-[0-9a-f]{32}\.pem$/;

/** Threat: with a query or a fragment, one file would have any number of addresses to fetch and to cache. */
function isCertificate(url: string, topic: string): boolean {
  const folder = `https://${hostOf(topic)}/`;
  return url.startsWith(folder) && CERTIFICATE_FILE.test(url.slice(folder.length));
}

/**
 * The returned function tells whether Amazon has signed a message of this topic. It throws if the certificate cannot be
 * fetched.
 */
export function createSnsVerifier(
  topic: string,
  fetchText: FetchText,
  clock: Clock,
): (message: SnsMessage) => Promise<boolean> {
  const certificates = new LRUCache<string, string>({ max: 10, ttl: 24 * 3_600_000 });
  // Threat: an attacker who knows the topic names a new file with each message.
  const fetches = new RateLimiterMemory({ points: MAX_FETCHES_PER_MINUTE, duration: 60 });
  async function fetchCertificate(url: string): Promise<string> {
    if (!(await isWithinLimit(fetches, 'all'))) throw new BusyError('full');
    return fetchText(url);
  }
  return async (message) => {
    const { SigningCertURL: url, TopicArn, SignatureVersion, Signature, Timestamp, Type } = message;
    const fields = Object.hasOwn(SIGNED, Type) ? SIGNED[Type]! : null;
    if (fields === null || TopicArn !== topic || SignatureVersion !== '2') return false;
    const now = clock.now();
    if (!(Math.abs(now.getTime() - Date.parse(Timestamp)) < MAX_AGE_MS) || !isCertificate(url, topic)) return false;
    const pem = certificates.get(url) ?? (await fetchCertificate(url));
    const certificate = readCertificate(pem, now);
    if (certificate === null) return false;
    certificates.set(url, pem);
    const text = fields.map((name) => (message[name] === undefined ? '' : `${name}\n${message[name]}\n`)).join('');
    return createVerify('RSA-SHA256').update(text).verify(certificate.publicKey, Signature, 'base64');
  };
}

function readCertificate(pem: string, now: Date): X509Certificate | null {
  try {
    const certificate = new X509Certificate(pem);
    const isCurrent = Date.parse(certificate.validFrom) <= +now && +now <= Date.parse(certificate.validTo);
    return isCurrent && certificate.publicKey.asymmetricKeyType === 'rsa' ? certificate : null;
  } catch {
    return null;
  }
}

/** Opens the address that confirms the subscription of our topic. The caller has verified the message. */
export async function confirmSubscription(message: SnsMessage, topic: string, fetchText: FetchText): Promise<void> {
  if (isAt(message.SubscribeURL, hostOf(topic))) await fetchText(message.SubscribeURL!);
}

const MAX_TEXT_BYTES = 64 * 1024;
const TIMEOUT_MS = 5_000;

export const fetchText: FetchText = async (url) => {
  const response = await fetch(url, { redirect: 'error', signal: AbortSignal.timeout(TIMEOUT_MS) });
  if (!response.ok) throw new Error(`the address answered ${response.status}`);
  return readResponseText(response, MAX_TEXT_BYTES);
};
