/**
 * Reads a mail that may be a reply (docs/specification/habit.md 5). postal-mime decodes it: charsets, encodings, flowed
 * text. Attachments are counted and dropped.
 *
 * Threat: a mail of a stranger is built to be slow. So its size, lines, headers and nesting are bounded.
 */
import PostalMime, { addressParser, decodeWords, type Address, type Email } from 'postal-mime';
import { htmlToText } from './html-text.ts';
import { MAX_MAIL_BYTES } from './inbound.ts';

/**
 * A megabyte of base64 has under 14,000 lines. A megabyte of line feeds has a million, and each costs some
 * microseconds.
 */
const MAX_LINES = 20_000;
/** Lines that begin with `--`, as the boundary before each part does. */
const MAX_BOUNDARIES = 400;
const MAX_HEADER_BYTES = 128 * 1024;
const MAX_NESTING = 20;
const MAX_HEADERS = 1_000;
const MAX_SENDER_LENGTH = 2_000;
/** Each DKIM signature costs a hash over the mail and may cost a DNS query. Mailing lists and forwarders add a few. */
const MAX_SIGNATURES = 10;

export type ParsedMail = {
  /** The address in From, in lower case. */
  from: string;
  /** The name in From; empty if it has none. */
  fromName: string;
  /** The addresses in To and Cc, in lower case. */
  to: readonly string[];
  /** The Message-ID with its brackets; null if the mail has none that an answer can quote. */
  messageId: string | null;
  text: string;
  attachments: number;
};

/**
 * A mail that is dropped without an answer: a program wrote it, or it is malformed, ambiguous or too costly to check.
 */
export class UnreadableMail extends Error {
  override name = 'UnreadableMail';
}

/** @throws UnreadableMail with the reason, which quotes nothing of the mail */
export async function parseMail(raw: Uint8Array): Promise<ParsedMail> {
  if (raw.byteLength > MAX_MAIL_BYTES) throw new UnreadableMail('too_large');
  checkLines(raw);
  const mail = await PostalMime.parse(raw, {
    maxNestingDepth: MAX_NESTING,
    maxHeadersSize: MAX_HEADER_BYTES,
    maxRfc822NestingDepth: 0,
  }).catch(() => {
    throw new UnreadableMail('malformed');
  });
  if (mail.headers.length > MAX_HEADERS) throw new UnreadableMail('malformed');
  const headers = new Map<string, string[]>();
  for (const { key, value } of mail.headers) headers.set(key, [...(headers.get(key) ?? []), value.trim()]);
  // Threat: two programs read different values of a header that occurs twice.
  if (SINGLE_HEADERS.some((name) => (headers.get(name)?.length ?? 0) > 1)) throw new UnreadableMail('malformed');
  const isReaction = mail.attachments.some(({ mimeType }) => REACTION.test(mimeType));
  if (isReaction || isAutomatic(headers)) throw new UnreadableMail('automatic');
  if ((headers.get('dkim-signature')?.length ?? 0) > MAX_SIGNATURES) throw new UnreadableMail('many_signatures');
  const messageId = headers.get('message-id')?.[0] ?? '';
  return {
    from: readSender(mail, headers),
    fromName: mail.from!.name.trim(),
    to: addressesOf([...(mail.to ?? []), ...(mail.cc ?? [])]),
    messageId: MESSAGE_ID.test(messageId) ? messageId : null,
    text: readText(mail),
    attachments: mail.attachments.length,
  };
}

/** A mail may have each of these headers once. `readSender` checks From. */
const SINGLE_HEADERS = ['to', 'cc', 'subject', 'content-type', 'content-transfer-encoding'];

const LINE_FEED = 10;
const DASH = 45;

function checkLines(raw: Uint8Array): void {
  let lines = 0;
  let boundaries = 0;
  for (let at = raw.indexOf(LINE_FEED); at !== -1; at = raw.indexOf(LINE_FEED, at + 1)) {
    lines += 1;
    if (raw[at + 1] === DASH && raw[at + 2] === DASH) boundaries += 1;
    if (lines > MAX_LINES || boundaries > MAX_BOUNDARIES) throw new UnreadableMail('malformed');
  }
}

/** The Message-ID goes into the headers of our answer, so it must not contain a line end. */
const MESSAGE_ID = /^<[\x21-\x3b\x3d\x3f-\x7e]{3,200}>$/;

/**
 * Threat: two programs read different senders out of one mail. So a mail must have one From with one address and no
 * group. The address must be ASCII without quotes before it is lower-cased: that would turn the Kelvin sign into a `k`.
 */
function readSender({ from }: Email, headers: ReadonlyMap<string, readonly string[]>): string {
  const [value, ...others] = headers.get('from') ?? [];
  const address = from && from.group === undefined ? from.address : '';
  const isPlain = /^[a-z0-9!#$%&'*+/=?^_`{|}~.-]+@[a-z0-9.-]+$/i.test(address);
  if (value === undefined || others.length > 0 || !isPlain) throw new UnreadableMail('sender');
  // Threat: quotes that never end make the pattern below read the rest from each of them.
  if (value.length > MAX_SENDER_LENGTH) throw new UnreadableMail('sender');
  // The parser returns only the first of several addresses. Each has one @ outside of quoted names and comments.
  const signs = value.replaceAll(/"(?:[^"\\]|\\.)*"|\([^()]*\)/g, '').split('@').length - 1;
  if (signs !== 1) throw new UnreadableMail('sender');
  return address.toLowerCase();
}

const addressesOf = (addresses: readonly Address[]): string[] =>
  addresses.flatMap(({ group, address }) =>
    (group === undefined ? [{ address }] : group).map((box) => (box.address ?? '').toLowerCase()),
  );

/**
 * Whether header lines that a signature covers show that the mail was written to this address: To or Cc names it, or
 * the subject answers the mail with this title. The subject counts because Outlook and Microsoft 365 sign neither To
 * nor Cc.
 *
 * Threat: to a mail that the user has sent to somebody else, such as a list, an attacker adds an unsigned To with our
 * address.
 */
export function showsRecipient(signedLines: readonly string[], address: string, title: string): boolean {
  return signedLines.some((line) => {
    const colon = line.indexOf(':');
    const name = line.slice(0, colon).trim().toLowerCase();
    const value = line
      .slice(colon + 1)
      .replaceAll(/\s+/g, ' ')
      .trim();
    if (name === 'to' || name === 'cc') return addressesOf(addressParser(value)).includes(address);
    return name === 'subject' && isReplyTo(decodeWords(value), title);
  });
}

const MAX_REPLY_PREFIX_LENGTH = 60;
/** `Re:`, `AW: Re:`, `[EXTERNAL] Antw:`, in any language. */
const REPLY_PREFIX =
  /^(?:\[[^\]]+\]\s?)*[^\s:：[\]]{1,12}\s?[:：](?:\s?(?:\[[^\]]+\]|[^\s:：[\]]{1,12}\s?[:：]))*\s?$/u;

function isReplyTo(subject: string, title: string): boolean {
  const prefix = subject.slice(0, -title.length);
  return subject.endsWith(title) && prefix.length <= MAX_REPLY_PREFIX_LENGTH && REPLY_PREFIX.test(prefix);
}

const AUTOMATIC_HEADERS = [
  'list-id',
  'list-unsubscribe',
  'list-post',
  'x-auto-response-suppress',
  'x-autoreply',
  'x-autorespond',
  'x-autoresponder',
  'x-auto-reply-from',
  'x-mail-autoreply',
  'x-failed-recipients',
  'x-loop',
];

/** The MIME type of an emoji reaction, which Gmail sends as a mail. */
const REACTION = /email-reaction/i;

/** Subjects of automatic replies: old programs mark these replies by no header. */
const AUTOMATIC_SUBJECT =
  /^(?:automatic reply|auto(?:matic)?[ -]?reply|out of (?:the )?office|automatische antwort|abwesenheitsnotiz|réponse automatique|respuesta automática|risposta automatica|resposta automática|automatisch antwoord|autosvar|automatiskt svar|odpowiedź automatyczna|автоответ|自动回复|自動回覆|自動応答|자동 회신)\s?[:：]/iu;

/**
 * RFC 3834, and what vacation programs, lists, Exchange and delivery reports send in its place. Our own mails have
 * `Auto-Submitted`, so two servers never answer each other.
 */
function isAutomatic(headers: ReadonlyMap<string, readonly string[]>): boolean {
  const some = (name: string, test: RegExp): boolean => (headers.get(name) ?? []).some((value) => test.test(value));
  return (
    some('auto-submitted', /^(?!no\s*(?:;|$))/i) ||
    some('precedence', /^(?:bulk|list|junk|auto[-_]reply)/i) ||
    some('return-path', /^<\s*>$/) ||
    AUTOMATIC_SUBJECT.test(decodeWords(headers.get('subject')?.[0] ?? '')) ||
    some('content-type', /^multipart\/report|^message\/(?:delivery|disposition)/i) ||
    some('x-ms-exchange-generated-message-source', /./) ||
    AUTOMATIC_HEADERS.some((name) => headers.has(name))
  );
}

/** Enough for a reply with what it quotes; what follows is not read. */
const MAX_HTML_LENGTH = 200_000;
const MAX_TEXT_LENGTH = 100_000;

/** HTML first: Gmail breaks the lines of its plain text after 76 letters, so one item would become two. */
function readText({ html, text }: Email): string {
  const read = html === undefined ? '' : htmlToText(html.slice(0, MAX_HTML_LENGTH));
  return (read.trim() === '' ? (text ?? '') : read).slice(0, MAX_TEXT_LENGTH);
}
