/**
 * The tokens in the mails of the evening, and in the notifications of reminders. Push devices renew their subscriptions
 * with tokens of the same form.
 *
 * A token is 16 bytes of the user's id and 16 random bytes as 52 lower-case letters and digits, which fit into a link
 * and into the local part of an address. Only its hash is stored, with the user, the day and what it is for.
 */
import { hash, randomBytes, timingSafeEqual } from 'node:crypto';
import { base32nopad } from '@scure/base';
import type { Day } from '#domain/day/day.ts';
import { hmac } from '../auth/keys/sealed.ts';
import type { AsService } from '../database/database.ts';
import type { Rows } from '#domain/database-rows.ts';

export type TokenPurpose = Rows['mail_tokens']['purpose'];
export type DueKind = Rows['reminder_schedule']['kind'];

const SECRET_BYTES = 16;
const ID_BYTES = 16;
/** An answer of the next morning, or of Monday, still finds its day. */
export const TOKEN_LIFE_MS = 3 * 24 * 3_600_000;

export type MailToken = { text: string; userId: string; hash: Buffer };

export function createMailToken(userId: string): MailToken {
  const bytes = Buffer.concat([idBytes(userId), randomBytes(SECRET_BYTES)]);
  return { text: encode(bytes), userId, hash: hash('sha256', bytes, 'buffer') };
}

/** Null for a text of another form. Whether the token is valid, only the database knows. */
export function parseMailToken(text: string): Omit<MailToken, 'text'> | null {
  const bytes = decode(text, ID_BYTES + SECRET_BYTES);
  return bytes && { userId: idOf(bytes), hash: hash('sha256', bytes, 'buffer') };
}

/** For a mail that is sent at once. `markSent` stores those of a scheduled one. */
export async function storeMailTokens(
  service: AsService,
  { day, now, tokens }: { day: Day; now: Date; tokens: readonly { token: MailToken; purpose: TokenPurpose }[] },
): Promise<void> {
  for (const { token, purpose } of tokens) {
    await service.statement(
      'insert into public.mail_tokens (user_id, token_hash, purpose, day, expires_at) values ($1, $2, $3, $4, $5)',
      [token.userId, token.hash, purpose, day, new Date(now.getTime() + TOKEN_LIFE_MS)],
    );
  }
}

/**
 * The day and the user of a valid token. Threat: the links of an account that the operator has banned, or that is about
 * to be deleted, still write.
 */
export async function findMailToken(
  service: AsService,
  text: string,
  purpose: TokenPurpose,
  now: Date,
): Promise<{ userId: string; day: Day; hash: Buffer } | null> {
  const parsed = parseMailToken(text);
  if (!parsed) return null;
  const { rows } = await service.statement<{ day: Day }>(
    `select token.day::text from public.mail_tokens as token join auth.users as account on account.id = token.user_id
      where token.user_id = $1 and token.token_hash = $2 and token.purpose = $3 and token.expires_at > $4
        and (account.banned_until is null or account.banned_until <= $4) and account.deletion_due_at is null`,
    [parsed.userId, parsed.hash, purpose, now],
  );
  return rows[0] ? { ...parsed, day: rows[0].day } : null;
}

// The token of an unsubscribe link is signed instead of stored, because such a link has to work for weeks and every
// mail has one. It names the user, what is turned off and when the mail was sent.

const KINDS: readonly DueKind[] = ['reminder', 'digest'];
const SIGNED_BYTES = ID_BYTES + 1 + 4;
const SIGNATURE_BYTES = 16;
/** Longer than the 30 days that the CAN-SPAM Act of the USA requires. */
const UNSUBSCRIBE_LIFE_MS = 60 * 24 * 3_600_000;

export type Unsubscription = { userId: string; kind: DueKind; sentAt: Date };

/** @param secret of `deriveSecret('unsubscribe-links')` */
export function signUnsubscription({ userId, kind, sentAt }: Unsubscription, secret: Buffer): string {
  const signed = Buffer.alloc(SIGNED_BYTES);
  idBytes(userId).copy(signed);
  signed.writeUInt8(KINDS.indexOf(kind), ID_BYTES);
  signed.writeUInt32BE(Math.floor(sentAt.getTime() / 1000), ID_BYTES + 1);
  return encode(Buffer.concat([signed, signatureOf(signed, secret)]));
}

/** Null for a text without a valid signature, or from a mail that is too old. */
export function verifyUnsubscription(text: string, secret: Buffer, now: Date): Unsubscription | null {
  const bytes = decode(text, SIGNED_BYTES + SIGNATURE_BYTES);
  if (!bytes) return null;
  const signed = bytes.subarray(0, SIGNED_BYTES);
  if (!timingSafeEqual(bytes.subarray(SIGNED_BYTES), signatureOf(signed, secret))) return null;
  const kind = KINDS[signed.readUInt8(ID_BYTES)];
  const sentAt = new Date(signed.readUInt32BE(ID_BYTES + 1) * 1000);
  if (kind === undefined || now.getTime() - sentAt.getTime() > UNSUBSCRIBE_LIFE_MS) return null;
  return { userId: idOf(signed), kind, sentAt };
}

const signatureOf = (signed: Buffer, secret: Buffer): Buffer =>
  hmac(secret).update(signed).digest().subarray(0, SIGNATURE_BYTES);

const idBytes = (userId: string): Buffer => Buffer.from(userId.replaceAll('-', ''), 'hex');

function idOf(bytes: Buffer): string {
  const hex = bytes.toString('hex', 0, ID_BYTES);
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-');
}

const encode = (bytes: Buffer): string => base32nopad.encode(bytes).toLowerCase();

/** Mail servers may change the case of an address. */
function decode(text: string, length: number): Buffer | null {
  if (text.length !== Math.ceil((length * 8) / 5)) return null;
  try {
    return Buffer.from(base32nopad.decode(text.toUpperCase()));
  } catch {
    return null;
  }
}
