/**
 * The pages behind the links of reminders and digests: `/evening/TOKEN` stores a quick entry, `/unsubscribe/TOKEN`
 * turns a mail off (docs/specification/habit.md 3).
 *
 * Threat: mail clients and scanners open every link. GET and HEAD change nothing; the button of the page sends a POST.
 * The token in the URL is the only secret: no page links to another site, `Referrer-Policy` hides the path, nothing is
 * cached, and the request log has only the route's pattern.
 *
 * Threat: a stranger guesses a token. It has 128 random bits, or a signature of 128 bits, and an address has one visit
 * at a time.
 */
import { Hono, type Context } from 'hono';
import { dayLabel, type Day } from '#domain/day/day.ts';
import { EMPTY_LOG_HTML, withDateHeader } from '#domain/log/entry-html.ts';
import { MAX_QUICK_ENTRY_LENGTH, QUICK_ENTRIES } from '#domain/log/quick-entries.ts';
import { dayPath, ROUTES } from '#domain/routes.ts';
import { pageDocument } from '../http/page-document.ts';
import type { Clock } from '../clock.ts';
import type { Database } from '../database/database.ts';
import { escapeHtml } from '../escape-html.ts';
import type { AppEnv } from '../http/app-env.ts';
import { runLimited } from '../load/concurrency-limiter.ts';
import type { Limiters } from '../load/limiters.ts';
import { findMailToken, verifyUnsubscription, type Unsubscription } from './mail-tokens.ts';

type PageDeps = {
  database: Database;
  clock: Clock;
  limiters: Limiters;
  /** `deriveSecret('unsubscribe-links')` */
  unsubscribeSecret: Buffer;
};

type Page = { title: string; content: string; status?: 200 | 404 | 409 | 410 | 503 };

const VISITS = { maxRunning: 4, maxPerClient: 1, maxQueued: 100, maxQueuedPerClient: 10 };

export function mailPageRoutes(deps: PageDeps): Hono<AppEnv> {
  const limiter = deps.limiters.createLimiter('mail_pages', VISITS);
  const routes = new Hono<AppEnv>();
  const serve =
    (answer: (deps: PageDeps, context: Context<AppEnv>) => Promise<Page>) =>
    async (context: Context<AppEnv>): Promise<Response> => {
      const { status = 200, ...page } = await runLimited(limiter, () => answer(deps, context));
      const { body, headers } = pageDocument(page);
      return context.html(body, status, headers);
    };
  routes.get('/evening/:token', serve(showTap));
  routes.post('/evening/:token', serve(storeTap));
  routes.get('/unsubscribe/:token', serve(showUnsubscribe));
  routes.post('/unsubscribe/:token', serve(unsubscribe));
  return routes;
}

const OPEN_JOURNAL = `<a class="button" href="${ROUTES.journal.path}">Open your journal</a>`;

const EXPIRED: Page = {
  status: 410,
  title: 'This link no longer works',
  content: `<p>Links in a reminder work for three days. Open your journal to write.</p>\n${OPEN_JOURNAL}`,
};

const openDay = (day: Day): string => `<a class="button" href="${escapeHtml(dayPath(day))}">Open this day</a>`;

const hasWordsPage = (day: Day): Page => ({
  status: 409,
  title: 'This day has words already',
  content: `<p>Your log of <strong>${dayLabel(day)}</strong> was not changed.</p>\n${openDay(day)}`,
});

/** Reads `entry` of the query, the position of a quick entry in `QUICK_ENTRIES`. */
function readEntry(context: Context<AppEnv>): (typeof QUICK_ENTRIES)[number] | undefined {
  const entry = context.req.query('entry') ?? '';
  return /^\d$/.test(entry) ? QUICK_ENTRIES[Number(entry)] : undefined;
}

const findTap = ({ database, clock }: PageDeps, context: Context<AppEnv>) =>
  findMailToken(database.asService('open a page of a mail'), context.req.param('token') ?? '', 'tap', clock.now());

/** The beginning of the plain text of a day, as long as the longest quick entry; empty without a log. */
async function readText(database: Database, userId: string, day: Day): Promise<string> {
  const { rows } = await database
    .asService('open a page of a mail')
    .statement<{ text: string }>(
      `select left(content_text, ${MAX_QUICK_ENTRY_LENGTH}) as text from public.entries where user_id = $1 and date = $2`,
      [userId, day],
    );
  return rows[0]?.text ?? '';
}

/**
 * Runs as the user, so that the policies decide about the day. One statement: it replaces no words that arrive at the
 * same moment.
 */
const STORE_ENTRY = `
  insert into public.entries (user_id, date, content) values ($1, $2, $3)
  on conflict (user_id, date) do update set content = excluded.content where entries.content_text = ''`;

async function storeEntry(database: Database, userId: string, day: Day, text: string): Promise<boolean> {
  const identity = {
    role: 'authenticated' as const,
    claimsJson: JSON.stringify({ sub: userId, role: 'authenticated' }),
  };
  const content = withDateHeader(
    day,
    EMPTY_LOG_HTML.replace('<p></p>', () => `<p>${escapeHtml(text)}</p>`),
  );
  return (await database.asUser(identity).statement(STORE_ENTRY, [userId, day, content])).rowCount === 1;
}

async function showTap(deps: PageDeps, context: Context<AppEnv>): Promise<Page> {
  const entry = readEntry(context);
  const tap = await findTap(deps, context);
  if (!tap || !entry) return EXPIRED;
  if ((await readText(deps.database, tap.userId, tap.day)) !== '') return hasWordsPage(tap.day);
  return {
    title: entry.text,
    content: `<p>The button stores this as your log of <strong>${dayLabel(tap.day)}</strong>.</p>
<form method="post">
<button>Log “${escapeHtml(entry.text)}”</button>
</form>
<p class="note">Or <a href="${escapeHtml(dayPath(tap.day))}">write your own words</a>.</p>`,
  };
}

async function storeTap(deps: PageDeps, context: Context<AppEnv>): Promise<Page> {
  const entry = readEntry(context);
  const tap = await findTap(deps, context);
  if (!tap || !entry) return EXPIRED;
  const { database } = deps;
  const isStored = await storeEntry(database, tap.userId, tap.day, entry.text);
  // After a second tap on the same button, the day has these words already.
  return isStored || (await readText(database, tap.userId, tap.day)) === entry.text
    ? storedPage(entry.text, tap.day)
    : hasWordsPage(tap.day);
}

const storedPage = (text: string, day: Day): Page => ({
  title: 'Stored',
  content: `<p>“${escapeHtml(text)}” is your log of <strong>${dayLabel(day)}</strong>. You can change it at any time.</p>\n${openDay(day)}`,
});

const NAMES = { reminder: 'the evening reminder', digest: 'the weekly digest' } as const;
const OPEN_SETTINGS = `<a class="button" href="${ROUTES.settings.path}">Open the settings</a>`;

const BAD_UNSUBSCRIBE: Page = {
  status: 410,
  title: 'This link no longer works',
  content: `<p>You can turn off every mail in your settings.</p>\n${OPEN_SETTINGS}`,
};

const readUnsubscription = ({ unsubscribeSecret, clock }: PageDeps, context: Context<AppEnv>): Unsubscription | null =>
  verifyUnsubscription(context.req.param('token') ?? '', unsubscribeSecret, clock.now());

async function showUnsubscribe(deps: PageDeps, context: Context<AppEnv>): Promise<Page> {
  const unsubscription = readUnsubscription(deps, context);
  if (!unsubscription) return BAD_UNSUBSCRIBE;
  const name = NAMES[unsubscription.kind];
  return {
    title: `Turn off ${name}?`,
    content: `<p>You will get no more of these mails. You can turn them on again in your settings.</p>
<form method="post">
<button>Turn off</button>
</form>`,
  };
}

/** Also the one click of a mail client (RFC 8058), whose body is not needed: the token says all. Idempotent. */
async function unsubscribe(deps: PageDeps, context: Context<AppEnv>): Promise<Page> {
  const unsubscription = readUnsubscription(deps, context);
  if (!unsubscription) return BAD_UNSUBSCRIBE;
  const { userId, kind, sentAt } = unsubscription;
  const column = kind === 'reminder' ? 'remind_by_mail' : 'digest';
  // Threat: an old mail that was passed on turns off what the user has turned on again since. The link of the next mail
  // works.
  const { rows } = await deps.database.asService('unsubscribe').statement<{ isOld: boolean }>(
    `with schedule as (
       select on_since > $3::timestamptz + interval '1 second' as is_old from public.reminder_schedule where user_id = $1 and kind = $2),
     changed as (
       update public.preferences set ${column} = false
        where user_id = $1 and ${column} and not (select is_old from schedule))
     select is_old as "isOld" from schedule`,
    [userId, kind, sentAt],
  );
  if (rows[0]?.isOld !== false) return BAD_UNSUBSCRIBE;
  return {
    title: 'Turned off',
    content: `<p>You get no more mails of ${NAMES[kind]}. You can turn them on again in your settings.</p>\n${OPEN_SETTINGS}`,
  };
}
