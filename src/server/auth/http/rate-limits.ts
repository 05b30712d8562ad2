/**
 * Rate limits per network address (docs/specification/limits.md 2); per account or session for passwords, second
 * factors, sign-ins, changes and archives; per recipient for mails and texts. The counters are stored in the database.
 * Each mailed or texted code also has a limit of wrong guesses, which is counted where the code is stored.
 */
import { createHash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import type { Config } from '#server/config/config.ts';
import type { Database } from '#server/database/database.ts';
import { networkPrefix } from '#server/http/client-address.ts';
import { RateLimiterPostgres, RateLimiterRes, rateLimitStore } from '#server/http/rate-limit-store.ts';
import { AuthError, type AuthErrorName } from './errors.ts';

const MINUTE = 60;
const FIVE_MINUTES = 300;
const HOUR = 3_600;

/** `points` requests of one network address in `duration` seconds. */
const BUCKETS = {
  signup: { points: 30, duration: FIVE_MINUTES },
  anonymous: { points: 30, duration: HOUR },
  otp: { points: 30, duration: FIVE_MINUTES },
  magiclink: { points: 30, duration: FIVE_MINUTES },
  recover: { points: 30, duration: FIVE_MINUTES },
  resend: { points: 30, duration: FIVE_MINUTES },
  user: { points: 30, duration: FIVE_MINUTES },
  verify: { points: 30, duration: FIVE_MINUTES },
  reauthenticate: { points: 30, duration: FIVE_MINUTES },
  token: { points: 150, duration: FIVE_MINUTES },
  sso: { points: 30, duration: FIVE_MINUTES },
  saml_acs: { points: 60, duration: FIVE_MINUTES },
  web3: { points: 30, duration: FIVE_MINUTES },
  web3_nonce: { points: 30, duration: FIVE_MINUTES },
  oauth: { points: 60, duration: FIVE_MINUTES },
  factor_challenge: { points: 15, duration: MINUTE },
  factor_verify: { points: 15, duration: MINUTE },
  passkey: { points: 30, duration: FIVE_MINUTES },
  factor: { points: 30, duration: FIVE_MINUTES },
  /** Device authorizations, and the codes that users enter for them. */
  connect: { points: 30, duration: FIVE_MINUTES },
  /** Three programs behind one address, which poll every five seconds. */
  device_poll: { points: 180, duration: FIVE_MINUTES },
  /** Only sign-outs that ended no session: an owner who signs a thief out is never refused. */
  idle_logout: { points: 30, duration: FIVE_MINUTES },
} as const;

export type Bucket = keyof typeof BUCKETS;

/**
 * How many exhausted buckets of network addresses this process remembers. Threat: the holder of an IPv6 /32 exhausts
 * the buckets of thousands of /64 prefixes. `inMemoryBlockOnConsumed` of the library would remember all of them, and
 * from 1,000 on read all of them for each further one.
 */
const MAX_BLOCKED = 10_000;

/**
 * Wrong passwords per key of `signInKey` (an account, or one known device of it), from all network addresses together:
 * ten in 15 minutes and fifty in a day. An owner who mistypes waits minutes, and an attacker with a thousand network
 * addresses gets no further than with one.
 */
const SIGN_IN_WINDOWS = [
  { keyPrefix: 'sign-in', points: 10, duration: 900 },
  { keyPrefix: 'sign-in-day', points: 50, duration: 86_400 },
] as const;

/**
 * Text messages: one a minute, three an hour and ten a day to a number, and ten an hour for a network address. The
 * operator sets how many texts the whole server sends a day; at most a tenth of them is sent in an hour.
 *
 * Threat: a stranger asks for sign-in codes to a number, and its owner gets no text for a second step. The texts
 * that the signed-in owner of a confirmed number asks for are therefore counted apart.
 *
 * Threat: a few strangers use up the server's texts, and nobody passes a second step by text any more. Half of each
 * budget is therefore reserved for numbers that have been confirmed and for second steps. A stranger's text is `open`.
 */
const numberWindows = (asker: TextAsker) =>
  [
    { keyPrefix: `sms-${asker}`, points: 1, duration: MINUTE },
    { keyPrefix: `sms-${asker}-hour`, points: 3, duration: HOUR },
    { keyPrefix: `sms-${asker}-day`, points: 10, duration: 24 * HOUR },
  ] as const;
const TEXTS_PER_ADDRESS = { keyPrefix: 'sms-address', points: 10, duration: 3_600 } as const;
const HOURLY_TEXTS_DIVISOR = 10;
const OPEN_TEXTS_DIVISOR = 2;
const GUESTS_OF_RESERVED_TEXTS = 2 / 3;

/** `owner`: a user of the account that has confirmed the number, signed in by the first step at least. */
export type TextAsker = 'guest' | 'owner';
/**
 * The share of the texts that a request uses: reserved ones for a confirmed number or a verified second factor, else
 * `open`.
 */
export type TextShare = 'open' | TextAsker;
/**
 * Reserved texts of one number; more count as open ones. Threat: the holders of three confirmed numbers use up all
 * reserved texts of an hour. Strangers' requests for the number are counted apart, so that its owner keeps a text.
 *
 * Threat: a stranger who knows the confirmed numbers of others asks for a code to each. All guests together therefore
 * get two thirds of the reserved texts, and the rest is for second steps and other requests of signed-in owners. An
 * attacker who uses that up needs numbers of their own: five for an hour and seventeen for a day, with 300 texts a day.
 */
const reservedWindows = (asker: TextAsker) =>
  [
    { keyPrefix: `sms-reserved-${asker}`, points: 1, duration: HOUR },
    { keyPrefix: `sms-reserved-${asker}-day`, points: 3, duration: 24 * HOUR },
  ] as const;
/**
 * Mails to one address: ten an hour over all kinds, in four shares. Threat: a stranger has mails of every kind sent, to
 * flood a mailbox, or to use up the mails of its owner. Anybody can use up `open`, but the other shares remain.
 * `notice` is only for mails that an administrator, or somebody who has signed in to the account, causes.
 *
 * `entry` is only for mails whose link lets the reader in from any browser. A stranger can use it up too, but then the
 * owner has three links that work until the hour is over.
 */
const MAIL_SHARES = { open: 3, entry: 3, notice: 3, urgent: 1 } as const;
type MailShare = keyof typeof MAIL_SHARES;
/** The shares that mails of a kind may use, in this order. */
const SHARES_OF_MAIL = {
  entry: ['open', 'entry'],
  notice: ['open', 'notice'],
  /** A notice that its owner must not miss. */
  urgent: ['open', 'notice', 'urgent'],
  stranger: ['open'],
} as const satisfies Record<string, readonly MailShare[]>;
export type MailKind = keyof typeof SHARES_OF_MAIL;
/**
 * Mails to all unproven aliases of a mailbox (`mailboxOf`). Threat: a stranger signs up as `owner+1@`, `owner+2@` and
 * so on, or with other dots at Gmail. Aliases that have been proven are not counted, or the stranger would use up the
 * mails of an owner with such an address.
 */
const MAILBOX_WINDOW = { keyPrefix: 'mailbox', points: 10, duration: HOUR } as const;

/**
 * Downloads of the archive of a whole journal, which is offered before an account is deleted: three in 30 days, so that
 * a broken download can be repeated. Threat: a user of the free plan uses the archive as an export, which is part of
 * the paid plan (docs/decisions/0024-deleting-an-account.md).
 */
const ARCHIVE_WINDOW = { keyPrefix: 'archive', points: 3, duration: 30 * 24 * HOUR } as const;

/**
 * Wrong codes of a second factor, or wrong answers of a passkey, from all network addresses together (for the key see
 * `countGuess`). Threat: the thief of a password guesses the codes of an authenticator app. Three of a million codes
 * are right at a time, so thirty guesses a day succeed once in thirty years on average.
 */
const FACTOR_WINDOWS = [
  { keyPrefix: 'factor', points: 10, duration: 900 },
  { keyPrefix: 'factor-day', points: 30, duration: 86_400 },
] as const;

/**
 * Changes of how an account is signed in to, by one session from all network addresses. Each writes an audit row, which
 * is kept for 400 days, and most send the owner a mail. Threat: a thief of a session uses up the changes of the
 * account, so that the owner cannot undo them. A new session has changes of its own.
 */
const CHANGE_WINDOW = { keyPrefix: 'change', points: 60, duration: HOUR } as const;
/** The first changes of a session in an hour, which do not count towards ACCOUNT_CHANGE_WINDOW. */
const OWN_CHANGES = 10;
/** Threat: the owner of an account fills the audit log by changes in hundreds of sessions. */
const ACCOUNT_CHANGE_WINDOW = { keyPrefix: 'account-change', points: 240, duration: HOUR } as const;

/**
 * Sign-ins that were right: by password and passkey per account, else per wallet or identity. Threat: the owner of an
 * account writes audit rows and sessions from thousands of network addresses, and with a new known device each time.
 */
const PASSED_SIGN_INS = { keyPrefix: 'signed-in', points: 120, duration: HOUR } as const;

/** Takes a counted attempt back, so that it does not count against the limit. */
export type Refund = () => Promise<void>;

export interface RateLimits {
  /** Counts a request of the network address. Throws `over_request_rate_limit` once its bucket is exhausted. */
  consume(bucket: Bucket, ip: string): Promise<void>;
  /**
   * Counts an attempt before its password is compared, so that concurrent attempts gain no guesses. Throws
   * `over_request_rate_limit`.
   *
   * @param account from `signInKey`
   * @returns a function that refunds the attempt, for attempts that were not wrong guesses
   */
  consumeSignIn(account: string): Promise<Refund>;
  /** As `consumeSignIn`, for the codes of a second factor and the answers of a passkey. */
  consumeFactorGuess(key: string): Promise<Refund>;
  /**
   * Counts a text for its recipient and for the network address that asks for it. Throws `over_sms_send_rate_limit`
   * with the seconds to wait.
   *
   * @param recipient an HMAC of the number, so that the counters store no number
   */
  consumeSmsRecipient(recipient: string, ip: string, asker: TextAsker): Promise<void>;
  /**
   * Counts a text that is about to be sent. Throws `over_sms_send_rate_limit` once the server's budget for this share
   * is exhausted.
   *
   * @param reserved whose reserved text it is; null for an open text. `recipient` as in `consumeSmsRecipient`
   */
  consumeSmsServer(reserved: { asker: TextAsker; recipient: string } | null): Promise<void>;
  /**
   * Counts a text to a number that may have an account or none. False if only reserved texts are left. Throws
   * `over_sms_send_rate_limit` if none is left.
   */
  consumeOpenText(): Promise<boolean>;
  /**
   * Counts a mail that is about to be sent. `no`: do not send it, and answer as if it had been sent. `last`: no other
   * mail of this kind will be allowed until the window ends.
   *
   * @param isProven whether a mailed link, a code or a provider has proven the address
   */
  allowMail(kind: MailKind, to: { address: string; isProven: boolean }): Promise<'yes' | 'last' | 'no'>;
  /**
   * Counts a change of how the account is signed in to. Call it for each request that adds an audit row. Throws
   * `over_request_rate_limit`.
   */
  consumeChange(signedIn: { account: { user: { id: string } }; session: { id: string } | null }): Promise<void>;
  /**
   * Counts a sign-in whose password, passkey, wallet or identity was right. Call it before the transaction of the
   * sign-in, because it takes a connection. Throws `over_request_rate_limit`.
   */
  consumePassedSignIn(account: string): Promise<void>;
  /** Counts a download of a user's archive. Throws `over_archive_limit`. */
  consumeArchive(userId: string): Promise<void>;
}

type RateLimitDeps = { config: Pick<Config, 'auth'>; database: Database };

export function createRateLimits({ config, database }: RateLimitDeps): RateLimits {
  const unlimited = async (): Promise<void> => {};
  if (!config.auth.rateLimits) {
    return {
      consume: unlimited,
      consumeSignIn: async () => unlimited,
      consumeFactorGuess: async () => unlimited,
      consumeSmsRecipient: unlimited,
      consumeSmsServer: unlimited,
      consumeOpenText: async () => true,
      allowMail: async () => 'yes',
      consumeArchive: unlimited,
      consumeChange: unlimited,
      consumePassedSignIn: unlimited,
    };
  }
  const store = rateLimitStore(database);
  const createLimiter = (window: { keyPrefix: string; points: number; duration: number }) =>
    new RateLimiterPostgres({ ...store, ...window });
  const archiveLimiter = createLimiter(ARCHIVE_WINDOW);
  const changeLimiter = createLimiter(CHANGE_WINDOW);
  const accountChangeLimiter = createLimiter(ACCOUNT_CHANGE_WINDOW);
  const passedSignInLimiter = createLimiter(PASSED_SIGN_INS);
  const signInLimiters = SIGN_IN_WINDOWS.map(createLimiter);
  const createMailLimiter = (share: MailShare) =>
    createLimiter({ keyPrefix: `mail-${share}`, points: MAIL_SHARES[share], duration: HOUR });
  const mailLimiters = {
    open: createMailLimiter('open'),
    entry: createMailLimiter('entry'),
    notice: createMailLimiter('notice'),
    urgent: createMailLimiter('urgent'),
  };
  const mailboxLimiter = createLimiter(MAILBOX_WINDOW);
  const factorLimiters = FACTOR_WINDOWS.map(createLimiter);
  const numberLimiters = {
    guest: numberWindows('guest').map(createLimiter),
    owner: numberWindows('owner').map(createLimiter),
  };
  const textAddressLimiter = createLimiter(TEXTS_PER_ADDRESS);
  const textsPerDay = config.auth.sms?.dailyLimit ?? 0;
  const textsPerHour = Math.ceil(textsPerDay / HOURLY_TEXTS_DIVISOR);
  const serverLimiters = [
    createLimiter({ keyPrefix: 'sms-server', points: textsPerHour, duration: 3_600 }),
    createLimiter({ keyPrefix: 'sms-server-day', points: textsPerDay, duration: 86_400 }),
  ];
  const openTextLimiters = [
    createLimiter({ keyPrefix: 'sms-open', points: halfOf(textsPerHour), duration: 3_600 }),
    createLimiter({ keyPrefix: 'sms-open-day', points: halfOf(textsPerDay), duration: 86_400 }),
  ];
  const reservedTextLimiters = {
    guest: reservedWindows('guest').map(createLimiter),
    owner: reservedWindows('owner').map(createLimiter),
  };
  const guestTextLimiters = [
    createLimiter({ keyPrefix: 'sms-guests', points: guestTexts(textsPerHour), duration: HOUR }),
    createLimiter({ keyPrefix: 'sms-guests-day', points: guestTexts(textsPerDay), duration: 24 * HOUR }),
  ];
  const takeReservedText = async (asker: TextAsker, recipient: string): Promise<boolean> => {
    for (const limiter of reservedTextLimiters[asker])
      if ((await remainingAfter(limiter, recipient)) === null) return false;
    if (asker === 'guest')
      for (const limiter of guestTextLimiters) if ((await remainingAfter(limiter, 'all')) === null) return false;
    return true;
  };
  const consumeTexts = async (isReserved: boolean): Promise<void> => {
    // The open share comes first: a stranger's refused request must not use up a reserved text.
    for (const limiter of isReserved ? serverLimiters : [...openTextLimiters, ...serverLimiters])
      await consumeOr429(limiter, 'all', { error: 'sms_budget_exhausted' });
  };
  const limiters = new Map(
    Object.entries(BUCKETS).map(([bucket, window]) => [bucket, createLimiter({ keyPrefix: bucket, ...window })]),
  );
  /** A blocked client costs this process no further statement until its bucket refills. */
  const blocked = new LRUCache<string, true>({ max: MAX_BLOCKED, ttl: HOUR * 1000 });
  return {
    async consume(bucket, ip) {
      const address = networkPrefix(ip);
      const key = `${bucket} ${address}`;
      const blockedMs = blocked.getRemainingTTL(key);
      if (blockedMs > 0) throw tooManyRequests(blockedMs);
      await consumeOr429(limiters.get(bucket)!, address, {
        onExceeded: (ms) => void blocked.set(key, true, { ttl: ms }),
      });
    },
    consumeSignIn: (account) => consumeAll(signInLimiters, account),
    consumeFactorGuess: (key) => consumeAll(factorLimiters, key),
    async consumeSmsRecipient(recipient, ip, asker) {
      // Threat: an address that has used its texts asks for more, which would use up the texts of strangers' numbers.
      await consumeOr429(textAddressLimiter, networkPrefix(ip), { error: 'over_sms_send_rate_limit' });
      try {
        for (const limiter of numberLimiters[asker])
          await consumeOr429(limiter, recipient, { error: 'over_sms_send_rate_limit' });
      } catch (error) {
        await textAddressLimiter.reward(networkPrefix(ip));
        throw error;
      }
    },
    consumeSmsServer: async (reserved) =>
      consumeTexts(reserved !== null && (await takeReservedText(reserved.asker, reserved.recipient))),
    async consumeOpenText() {
      try {
        await consumeTexts(false);
        return true;
      } catch (error) {
        if (!(error instanceof AuthError)) throw error;
        const used = await Promise.all(serverLimiters.map((limiter) => limiter.get('all')));
        if (used.some((counter) => counter !== null && counter.remainingPoints <= 0)) throw error;
        return false;
      }
    },
    async consumeChange({ account: { user }, session }) {
      const { consumedPoints } = await consumeOr429(changeLimiter, session?.id ?? user.id);
      if (consumedPoints > OWN_CHANGES) await consumeOr429(accountChangeLimiter, user.id);
    },
    async consumePassedSignIn(account) {
      await consumeOr429(passedSignInLimiter, hashOf(account));
    },
    async consumeArchive(userId) {
      await consumeOr429(archiveLimiter, userId, { error: 'over_archive_limit' });
    },
    async allowMail(kind, { address, isProven }) {
      const shares = SHARES_OF_MAIL[kind];
      const mailbox = mailboxOf(address);
      if (mailbox !== address && !isProven && (await remainingAfter(mailboxLimiter, hashOf(mailbox))) === null)
        return 'no';
      for (const share of shares) {
        const remaining = await remainingAfter(mailLimiters[share], hashOf(address));
        if (remaining !== null) return remaining === 0 && share === shares.at(-1) ? 'last' : 'yes';
      }
      return 'no';
    },
  };
}

const halfOf = (texts: number): number => Math.ceil(texts / OPEN_TEXTS_DIVISOR);
const guestTexts = (texts: number): number => Math.ceil((texts - halfOf(texts)) * GUESTS_OF_RESERVED_TEXTS);

/** Leaves out what follows a plus sign. Gmail also ignores dots, and has two domains for each mailbox. */
const mailboxOf = (address: string): string =>
  address
    .replace(/\+[^@]*@/, '@')
    .replace(/^([^@]+)@(?:gmail|googlemail)\.com$/, (_, name: string) => `${name.replaceAll('.', '')}@gmail.com`);

const hashOf = (address: string): string => createHash('sha256').update(address).digest('base64url');

/** Returns the remaining points; null once the limit is exceeded. */
async function remainingAfter(limiter: RateLimiterPostgres, key: string): Promise<number | null> {
  try {
    return (await limiter.consume(key)).remainingPoints;
  } catch (error) {
    if (error instanceof RateLimiterRes) return null;
    throw error;
  }
}

async function consumeAll(limiters: readonly RateLimiterPostgres[], key: string): Promise<Refund> {
  for (const limiter of limiters) await consumeOr429(limiter, key);
  return async () => void (await Promise.all(limiters.map((limiter) => limiter.reward(key))));
}

async function consumeOr429(
  limiter: RateLimiterPostgres,
  key: string,
  { error, onExceeded }: { error?: AuthErrorName; onExceeded?: (msBeforeNext: number) => void } = {},
): Promise<RateLimiterRes> {
  try {
    return await limiter.consume(key);
  } catch (rejection) {
    if (!(rejection instanceof RateLimiterRes)) throw rejection;
    const { msBeforeNext } = rejection;
    if (msBeforeNext > 0) onExceeded?.(msBeforeNext);
    throw tooManyRequests(msBeforeNext, error);
  }
}

function tooManyRequests(msBeforeNext: number, error: AuthErrorName = 'over_request_rate_limit'): AuthError {
  const seconds = Math.max(1, Math.ceil(msBeforeNext / 1000));
  return new AuthError(error, String(seconds), seconds);
}
