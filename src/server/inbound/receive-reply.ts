/**
 * Turns the reply to a reminder into items of the day that the reminder was for, and mails what was stored, or why not
 * (docs/specification/habit.md 5).
 *
 * Threat: a stranger who knows an address of ours sends to it. A mail is answered only if it carries a valid token,
 * comes from the proven address of the token's user, and that address's domain vouches for it. No other mail gets an
 * answer, so no mail of ours goes to a forged sender and no two programs answer each other.
 *
 * Threat: a mail bomb. Refused mails are counted per reply address, and by SMTP also per network; authentic mails per
 * user; all mails that are read, per process. Beyond a limit the sender is asked to try again, so no stranger makes the
 * user's own mail bounce. The answers to one user have a limit of their own.
 */
import { createHash } from 'node:crypto';
import { dayLabel } from '#domain/day/day.ts';
import { APPEND_MAX_LENGTH, parseItems } from '#domain/log/append-items.ts';
import { dayPath } from '#domain/routes.ts';
import type { Clock } from '../clock.ts';
import type { Config } from '../config/config.ts';
import { actAsUser, AppendError, appendItems, type AppendDeps } from '../data/append-items.ts';
import { DataError } from '../data/errors.ts';
import { isTransient, redactRow } from '../database/database-error.ts';
import type { Database } from '../database/database.ts';
import { findMailToken } from '../habit/mail-tokens.ts';
import { RECIPIENTS, type Recipient } from '../habit/reminder-schedule.ts';
import { networkPrefix } from '../http/client-address.ts';
import {
  RateLimiterMemory,
  RateLimiterPostgres,
  type RateLimiterRes,
  isWithinLimit,
  rateLimitStore,
} from '../http/rate-limit-store.ts';
import { runLimited } from '../load/concurrency-limiter.ts';
import type { Limiters } from '../load/limiters.ts';
import { BusyError, createRequestContext, identifyUser } from '../load/request-context.ts';
import type { Logger } from '../log.ts';
import { replyAnswerMail, replyRefusalMail } from '../mail/habit-emails.ts';
import type { Mailer } from '../mail/mailer.ts';
import type { EventCounters } from '../metrics/events.ts';
import type { AuthenticateMail, Claim } from './authenticate-mail.ts';
import { domainOf, LOCAL_PART, type Inbound, type InboundMail, type Outcome } from './inbound.ts';
import { parseMail, showsRecipient, UnreadableMail, type ParsedMail } from './parse-mail.ts';
import { readOwnText } from './reply-text.ts';

export type InboundDeps = AppendDeps & {
  config: Pick<Config, 'publicUrl' | 'mail'> & { inbound: NonNullable<Config['inbound']> };
  database: Database;
  clock: Clock;
  limiters: Limiters;
  log: Logger;
  mailer: Pick<Mailer, 'send'>;
  events: Pick<EventCounters, 'inboundMail'>;
  authenticate: AuthenticateMail;
};

/** Authentic mails of one user in an hour. */
const MAX_PER_USER_AND_HOUR = 30;
/** Refused mails to one reply address in an hour, by SMTP from one network; each process counts its own. */
const MAX_REFUSED_PER_HOUR = 60;
/** Mails that a process reads in a minute. */
const MAX_PER_MINUTE = 600;
/** Answers to one user in an hour. */
const MAX_ANSWERS_PER_HOUR = 10;
/**
 * How many mails are read at once. The client is the user whom a mail is for: all mails of a webhook come from one
 * network.
 */
const READING = { maxRunning: 4, maxQueued: 50, maxPerClient: 2, maxQueuedPerClient: 10, maxWaitMs: 20_000 };
/**
 * How many mails are authenticated at once. The client is the sender's domain, so that a domain whose DNS is slow
 * delays its own mails.
 */
const AUTHENTICATION = { maxRunning: 16, maxQueued: 30, maxPerClient: 4, maxQueuedPerClient: 10, maxWaitMs: 10_000 };

class Refusal extends Error {
  override name = 'Refusal';
}

export function createInbound(deps: InboundDeps): Inbound {
  const { config, database, clock, limiters, log, mailer, events, authenticate } = deps;
  const service = database.asService('receive a mail');
  const reading = limiters.createLimiter('inbound_mail', READING);
  const authentication = limiters.createLimiter('inbound_authentication', AUTHENTICATION);
  const store = rateLimitStore(database);
  const perProcess = new RateLimiterMemory({ points: MAX_PER_MINUTE, duration: 60 });
  const refusedMails = new RateLimiterMemory({ points: MAX_REFUSED_PER_HOUR, duration: 3_600 });
  const perUser = new RateLimiterPostgres({
    ...store,
    keyPrefix: 'inbound-mail',
    points: MAX_PER_USER_AND_HOUR,
    duration: 3_600,
  });
  const answers = new RateLimiterPostgres({
    ...store,
    keyPrefix: 'inbound-answer',
    points: MAX_ANSWERS_PER_HOUR,
    duration: 3_600,
  });

  /** The token in a reply address of this server, in lower case; null for any other address. */
  function tokenOf(address: string): string | null {
    const [local = '', domain, ...rest] = address.toLowerCase().split('@');
    const isOurs = rest.length === 0 && domain === config.inbound.domain && local.startsWith(`${LOCAL_PART}+`);
    return isOurs ? local.slice(LOCAL_PART.length + 1) : null;
  }

  async function findToken(recipients: readonly string[]) {
    for (const address of recipients) {
      const text = tokenOf(address);
      const found = text === null ? null : await findMailToken(service, text, 'reply', clock.now());
      if (found) return { ...found, address: address.toLowerCase() };
    }
    return null;
  }

  async function process(mail: InboundMail): Promise<Outcome> {
    const token = await findToken(mail.recipients);
    if (token === null) throw new Refusal('unknown_address');
    const { userId } = token;
    identifyUser(userId);
    // Threat: a stranger who knows the address sends refused mails until the limit stops its owner's replies too. By
    // SMTP the limit counts each network alone.
    const network = mail.arrival && 'ip' in mail.arrival ? networkPrefix(mail.arrival.ip) : '';
    const key = `${token.hash.toString('base64url')} ${network}`;
    if (await isUsedUp(refusedMails, key)) return 'later';
    if (await isUsedUp(perUser, userId)) return 'later';
    if (!(await isWithinLimit(perProcess, 'all'))) return 'later';
    const written = await readWrittenMail(mail, token).catch(async (error: unknown) => {
      if (isRefusal(error)) await isWithinLimit(refusedMails, key);
      throw error;
    });
    if (written === null || !(await isWithinLimit(perUser, userId))) return 'later';
    const outcome = await runAs(userId, () => storeReply(written.parsed, { ...token, email: written.email }));
    // Threat: an attacker who has a mail of the user sends it again and again. Repeats do not use up the user's limit.
    if (outcome === 'repeated') await perUser.reward(userId);
    return outcome;
  }

  type Token = NonNullable<Awaited<ReturnType<typeof findToken>>>;

  /** A mail that the token's user has written. Null while that is unknown. @throws Refusal, UnreadableMail */
  async function readWrittenMail({ raw, arrival }: InboundMail, { userId, day, address }: Token) {
    const { parsed, email } = await runAs(userId, async () => {
      const account = await findAddress(userId);
      if (account === null) throw new Refusal('no_account');
      return { parsed: await parseMail(raw), email: account };
    });
    const { from, to } = parsed;
    if (from !== email.toLowerCase()) throw new Refusal('foreign_sender');
    // Threat: a mail that the user has signed and sent to somebody else is sent on to this address.
    if (!to.includes(address)) throw new Refusal('not_addressed');
    const isMeantForUs: Claim['isMeantForUs'] = (lines) => showsRecipient(lines, address, dayLabel(day));
    const authenticity = await runLimited(
      authentication,
      () => authenticate({ raw, from, arrival, isMeantForUs }),
      createRequestContext(domainOf(from)),
    );
    if (authenticity === 'fail') throw new Refusal('not_authenticated');
    return authenticity === 'pass' ? { parsed, email } : null;
  }

  const runAs = <Result>(userId: string, work: () => Promise<Result>): Promise<Result> =>
    runLimited(reading, work, createRequestContext(userId));

  /** Null for accounts that mail may not go to: unproven, banned, or about to be deleted. */
  async function findAddress(userId: string): Promise<string | null> {
    const { rows } = await service.statement<Recipient>(RECIPIENTS, [[userId], clock.now()]);
    return rows[0]?.email ?? null;
  }

  async function storeReply(parsed: ParsedMail, reply: Token & { email: string }): Promise<Outcome> {
    const { userId, day, email, address, hash } = reply;
    const sender = readSender(config.mail.from);
    const quoted = { day, addresses: [address, sender.address], name: sender.name };
    const text = readOwnText(parsed.text, quoted, { address: parsed.from, name: parsed.fromName });
    const mail = {
      to: email,
      replyTo: address,
      day,
      dayLink: config.publicUrl + dayPath(day),
      messageId: parsed.messageId,
      attachments: parsed.attachments,
    };
    try {
      if (text.length > APPEND_MAX_LENGTH) throw new AppendError('too_long');
      const items = parseItems(text);
      // The same words to the same mail are a repeated delivery or a replay, whatever their Message-ID is.
      const key = `mail:${createHash('sha256').update(hash).update(JSON.stringify(items)).digest('base64url')}`;
      const { outcome } = await appendItems(deps, actAsUser(userId), { date: day, items, key });
      if (outcome === 'repeated') return 'repeated';
      await answer(userId, () => replyAnswerMail({ ...mail, items }));
      return 'stored';
    } catch (error) {
      if (!(error instanceof AppendError)) throw error;
      await answer(userId, () => replyRefusalMail({ ...mail, reason: error.message }));
      return 'told';
    }
  }

  async function answer(userId: string, write: () => Parameters<Mailer['send']>[0]): Promise<void> {
    if (await isWithinLimit(answers, userId)) mailer.send(write());
  }

  return {
    async isKnownAddress(address) {
      return (await findToken([address])) !== null;
    },
    async receive(mail) {
      let reason: string | null = null;
      const outcome = await process(mail).catch((error: unknown): Outcome => {
        if (isRefusal(error)) {
          reason = error.message;
          return 'refused';
        }
        const isBusy = error instanceof BusyError || error instanceof DataError || isTransient(error);
        if (isBusy) reason = 'busy';
        else log.error(redactRow(error), 'an inbound mail failed');
        return 'later';
      });
      events.inboundMail(outcome);
      log.info({ inbound: outcome, ...(reason !== null && { reason }), bytes: mail.raw.length }, 'mail received');
      return outcome;
    },
  };
}

const isRefusal = (error: unknown): error is Error => error instanceof Refusal || error instanceof UnreadableMail;

type Counter = { points: number; get(key: string): Promise<RateLimiterRes | null> };

/** Reads the counter without counting. */
const isUsedUp = async (counter: Counter, key: string): Promise<boolean> =>
  ((await counter.get(key))?.consumedPoints ?? 0) >= counter.points;

/** The parts of `Name <address>`. */
function readSender(from: string): { name: string; address: string } {
  const [, name = '', address = from] = /^(.*)<([^<>]+)>\s*$/.exec(from) ?? [];
  return { name: name.replaceAll('"', '').trim(), address: address.trim().toLowerCase() };
}
