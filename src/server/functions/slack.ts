/**
 * `POST /functions/v1/slack`: Slack's slash command, such as `/hustle Shipped it` (docs/specification/capture.md 5).
 * The signature replaces a token. A Slack user writes to the account that was linked on the page /connect.
 *
 * Threat: a stranger posts commands of other people. Slack signs each request with a secret of our app; the comparison
 * takes constant time, and a request that is older than five minutes is refused. Threat: a request is repeated within
 * that time. Slack's `trigger_id` is the idempotency key.
 */
import { createHmac, timingSafeEqual } from 'node:crypto';
import { Hono, type Context } from 'hono';
import { dayLabel } from '#domain/day/day.ts';
import { APPEND_MAX_LENGTH, parseItems } from '#domain/log/append-items.ts';
import { ROUTES } from '#domain/routes.ts';
import { createRequest, findSlackAccount, unlinkSlack } from '../auth/tokens/connect-store.ts';
import { checkName } from '../auth/tokens/token-store.ts';
import type { Config } from '../config/config.ts';
import { actAsUser, AppendError, appendItems, APPEND_KEY_MAX_LENGTH, type AppendDeps } from '../data/append-items.ts';
import { DataError } from '../data/errors.ts';
import { findUserDay } from './function-request.ts';
import { isTransient, redactRow } from '../database/database-error.ts';
import type { AppEnv } from '../http/app-env.ts';
import { errorResponse } from '../http/error-response.ts';
import { limitBody, readBytes } from '../http/limit-body.ts';
import { createMinuteLimit, isWithinLimit, type MinuteLimit } from '../http/rate-limit-store.ts';
import { identifyUser } from '../load/request-context.ts';
import type { Logger } from '../log.ts';

const MAX_BODY_BYTES = 64 * 1024;
const MAX_AGE_SECONDS = 300;
/** The commands of one Slack user per minute. */
const COMMANDS = { keyPrefix: 'slack', points: 30, step: 5 } as const;
/** Slack's own ids are about ten characters. */
const SLACK_ID = /^[A-Z0-9]{1,40}$/;

type Deps = AppendDeps & { config: Pick<Config, 'publicUrl' | 'slack'>; log: Pick<Logger, 'error'> };

export function slackRoutes(deps: Deps): Hono<AppEnv> {
  const { config, clock, log } = deps;
  const routes = new Hono<AppEnv>();
  const commands = createMinuteLimit(deps.database, COMMANDS);

  routes.post('/', limitBody(MAX_BODY_BYTES), async (context) => {
    if (config.slack === null) return errorResponse(context, 'not_found');
    const body = await readBytes(context);
    const timestamp = context.req.header('x-slack-request-timestamp') ?? '';
    const signature = context.req.header('x-slack-signature') ?? '';
    const secret = config.slack.signingSecret.reveal();
    if (!isSigned({ timestamp, signature, body, secret, now: clock.now() }))
      return context.json({ code: 'bad_signature', message: 'The signature is not valid' }, 401);
    const form = new URLSearchParams(new TextDecoder().decode(body));
    // Slack checks the certificate of the address now and then.
    if (form.get('ssl_check') === '1') return context.body(null, 200);
    try {
      return answer(context, await run(deps, form, commands));
    } catch (error) {
      const text = describeFailure(error);
      if (text === null) throw error;
      if (!(error instanceof AppendError)) log.error(redactRow(error), 'a Slack command failed');
      return answer(context, text);
    }
  });
  return routes;
}

type SignedRequest = { timestamp: string; signature: string; body: Uint8Array; secret: string; now: Date };

function isSigned({ timestamp, signature, body, secret, now }: SignedRequest): boolean {
  if (!/^\d{1,12}$/.test(timestamp)) return false;
  if (Math.abs(now.getTime() / 1_000 - Number(timestamp)) > MAX_AGE_SECONDS) return false;
  const expected = Buffer.from(
    `v0=${createHmac('sha256', secret).update(`v0:${timestamp}:`).update(body).digest('hex')}`,
  );
  const sent = Buffer.from(signature);
  return sent.length === expected.length && timingSafeEqual(sent, expected);
}

/** Only the user who has typed the command sees the answer. */
const answer = (context: Context, text: string): Response => context.json({ response_type: 'ephemeral', text });

/** Slack reads `&`, `<` and `>` in a message as markup. */
const escapeSlack = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');

/**
 * The text as it was typed: Slack escapes it, and sends links and names as `<https://a.example|a.example>`,
 * `<@U1|ada>`.
 */
const unescapeSlack = (text: string): string =>
  text
    .replaceAll(/<([@#!]?)([^<>|]*)(?:\|([^<>]*))?>/g, (_, sign: string, target: string, label?: string) =>
      sign === '' ? target : `${sign === '!' ? '@' : sign}${label || target}`,
    )
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&amp;', '&');

async function run(deps: Deps, form: URLSearchParams, commands: MinuteLimit): Promise<string> {
  const field = (name: string): string => form.get(name) ?? '';
  const [team, user] = [field('team_id'), field('user_id')];
  if (!SLACK_ID.test(team) || !SLACK_ID.test(user)) return 'Slack did not say who you are. Please try again.';
  if (!(await isWithinLimit(commands, `${team} ${user}`))) return 'Too many commands. Please try again in a minute.';
  const command = /^\/[\w-]{1,40}$/.test(field('command')) ? field('command') : '/hustle';
  const text = unescapeSlack(field('text')).trim();
  const service = deps.database.asService('a Slack command');
  if (text === 'link') return offerLink(deps, { team, user, name: nameOf(field('user_name'), field('team_domain')) });
  const account = await findSlackAccount(service, { team, user, now: deps.clock.now() });
  if (account === null) return `Your journal is not linked yet. Send \`${command} link\`.`;
  const { userId, timeZone } = account;
  if (text === 'unlink') {
    await unlinkSlack(service, userId, team, user);
    return 'Unlinked. What you have added stays in your journal.';
  }
  if (text === '' || text === 'help')
    return `\`${command} Shipped the billing page\` adds an item to today. \`${command} unlink\` ends the link.`;
  identifyUser(userId);
  const writer = actAsUser(userId);
  if (text.length > APPEND_MAX_LENGTH) throw new AppendError('too_long');
  const date = await findUserDay(deps, writer, { asked: null, connected: timeZone });
  if (date === null) return `Your time zone is not known. Send \`${command} link\` again.`;
  const trigger = field('trigger_id');
  const key = trigger === '' ? null : `slack:${team}:${trigger}`.slice(0, APPEND_KEY_MAX_LENGTH);
  await appendItems(deps, writer, { date, items: parseItems(text), key });
  return `Added to ${dayLabel(date)}.`;
}

/** The name by which the page /connect shows the Slack user. */
function nameOf(user: string, team: string): string {
  const name = `${user.slice(0, 28)} in ${team.slice(0, 28)}`;
  try {
    return checkName(name);
  } catch {
    return 'a Slack user';
  }
}

/** The link is in an answer that only this user sees, works once within ten minutes, and needs a sign-in and a button. */
async function offerLink({ database, clock, config }: Deps, link: { team: string; user: string; name: string }) {
  const { code } = await createRequest(database.asService('a link of a Slack user'), {
    name: link.name,
    scopes: ['append'],
    slack: { team: link.team, user: link.user },
    now: clock.now(),
  });
  const page = `${config.publicUrl}${ROUTES.connect.path}?slack=${code}`;
  return `<${page}|Link your journal>. The link works once, for ten minutes.`;
}

/** Null for an error that the server does not expect. */
function describeFailure(error: unknown): string | null {
  if (error instanceof AppendError) return escapeSlack(`Not added. ${error.message}`);
  if (error instanceof DataError && error.status < 500) return escapeSlack(`Not added. ${error.message}`);
  if (error instanceof DataError || isTransient(error)) return 'Not added: too busy. Please try again in a moment.';
  return null;
}
