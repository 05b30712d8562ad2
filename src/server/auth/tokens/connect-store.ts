/** The rows of programs and Slack users that ask to be connected to an account, and of linked Slack users. */
import { randomBytes, randomInt } from 'node:crypto';
import {
  USER_CODE_LENGTH,
  USER_CODE_LETTERS,
  type ListedSlackLink,
  type TokenDays,
  type TokenScope,
} from '#domain/account/access-token.ts';
import type { AsService } from '#server/database/database.ts';
import { hashOf } from '../keys/personal-tokens.ts';

export const REQUEST_SECONDS = 600;
export const POLL_SECONDS = 5;

export type ConnectRow = {
  codeHash: Buffer;
  userCode: string | null;
  name: string;
  scopes: TokenScope[];
  slackTeam: string | null;
  slackUser: string | null;
  expiresAt: Date;
  pollSeconds: number;
  polledAt: Date | null;
  approvedBy: string | null;
  days: TokenDays | null;
  timeZone: string | null;
  deniedAt: Date | null;
};

const COLUMNS = `code_hash as "codeHash", user_code as "userCode", client_name as name, scopes, slack_team as "slackTeam",
  slack_user as "slackUser", expires_at as "expiresAt", poll_seconds as "pollSeconds", polled_at as "polledAt",
  approved_by as "approvedBy", token_days as days, time_zone as "timeZone", denied_at as "deniedAt"`;

const makeCode = (): string => randomBytes(32).toString('base64url');

const makeUserCode = (): string =>
  Array.from({ length: USER_CODE_LENGTH }, () => USER_CODE_LETTERS[randomInt(USER_CODE_LETTERS.length)]).join('');

type NewRequest = {
  name: string;
  scopes: readonly TokenScope[];
  slack: { team: string; user: string } | null;
  now: Date;
};

/** Returns the secret code, of which only the hash is stored, and for a program the code that its user enters. */
export async function createRequest(
  service: AsService,
  { name, scopes, slack, now }: NewRequest,
): Promise<{ code: string; userCode: string | null }> {
  const code = makeCode();
  for (;;) {
    const userCode = slack === null ? makeUserCode() : null;
    const { rowCount } = await service.statement(
      `insert into public.connect_requests
         (code_hash, user_code, client_name, scopes, slack_team, slack_user, created_at, expires_at, poll_seconds)
       values ($1, $2, $3, $4, $5, $6, $7, $8, ${POLL_SECONDS}) on conflict (user_code) do nothing`,
      [
        hashOf(code),
        userCode,
        name,
        scopes,
        slack?.team ?? null,
        slack?.user ?? null,
        now,
        new Date(now.getTime() + REQUEST_SECONDS * 1_000),
      ],
    );
    if (rowCount === 1) return { code, userCode };
  }
}

/** The user who has approved a request; null if nobody has. */
export async function findApprover(service: AsService, code: string): Promise<string | null> {
  const { rows } = await service.statement<{ userId: string | null }>(
    'select approved_by as "userId" from public.connect_requests where code_hash = $1',
    [hashOf(code)],
  );
  return rows[0]?.userId ?? null;
}

/** Requires a transaction. Locks the request. Null if the request does not exist, or has expired and was deleted. */
export async function lockRequestByCode(transaction: AsService, code: string): Promise<ConnectRow | null> {
  const { rows } = await transaction.statement<ConnectRow>(
    `select ${COLUMNS} from public.connect_requests where code_hash = $1 for update`,
    [hashOf(code)],
  );
  return rows[0] ?? null;
}

/** Requests that nobody has answered yet and that have not expired. */
const OPEN = `expires_at > $2 and approved_by is null and denied_at is null`;
/** The code that the user enters, or the code in Slack's link. */
export type RequestKey = { userCode: string } | { code: string };

export async function findOpenRequest(service: AsService, key: RequestKey, now: Date): Promise<ConnectRow | null> {
  const [column, value] =
    'userCode' in key ? ['user_code', key.userCode] : ['user_code is null and code_hash', hashOf(key.code)];
  const { rows } = await service.statement<ConnectRow>(
    `select ${COLUMNS} from public.connect_requests where ${column} = $1 and ${OPEN} for update`,
    [value, now],
  );
  return rows[0] ?? null;
}

export async function approveRequest(
  transaction: AsService,
  { codeHash }: ConnectRow,
  answer: { userId: string; days: TokenDays; timeZone: string | null },
): Promise<void> {
  await transaction.statement(
    'update public.connect_requests set approved_by = $2, token_days = $3, time_zone = $4 where code_hash = $1',
    [codeHash, answer.userId, answer.days, answer.timeZone],
  );
}

export async function denyRequest(transaction: AsService, { codeHash }: ConnectRow, now: Date): Promise<void> {
  await transaction.statement('update public.connect_requests set denied_at = $2 where code_hash = $1', [
    codeHash,
    now,
  ]);
}

export async function deleteRequest(transaction: AsService, { codeHash }: ConnectRow): Promise<void> {
  await transaction.statement('delete from public.connect_requests where code_hash = $1', [codeHash]);
}

/** Remembers a poll; one that came too early makes the client wait longer, as RFC 8628 3.5 demands. */
export async function notePoll(transaction: AsService, { codeHash }: ConnectRow, isEarly: boolean, now: Date) {
  await transaction.statement(
    `update public.connect_requests set polled_at = $2, poll_seconds = least(poll_seconds + $3, 60) where code_hash = $1`,
    [codeHash, now, isEarly ? POLL_SECONDS : 0],
  );
}

export async function listSlackLinks(service: AsService, userId: string): Promise<ListedSlackLink[]> {
  const { rows } = await service.statement<Omit<ListedSlackLink, 'created_at'> & { createdAt: Date }>(
    `select team_id as team, slack_user as user, name, created_at as "createdAt"
       from public.slack_links where user_id = $1 order by created_at limit 20`,
    [userId],
  );
  return rows.map(({ createdAt, ...link }) => ({ ...link, created_at: createdAt.toISOString() }));
}

/** The account that a Slack user writes to, unless it is banned; null without a link. */
export async function findSlackAccount(
  service: AsService,
  { team, user, now }: { team: string; user: string; now: Date },
): Promise<{ userId: string; timeZone: string | null } | null> {
  const { rows } = await service.statement<{ userId: string; timeZone: string | null }>(
    `select link.user_id as "userId", link.time_zone as "timeZone"
       from public.slack_links as link join auth.users as account on account.id = link.user_id
      where link.team_id = $1 and link.slack_user = $2 and (account.banned_until is null or account.banned_until <= $3)`,
    [team, user, now],
  );
  return rows[0] ?? null;
}

/** A Slack user writes to one account: a later link replaces the earlier one. */
export async function linkSlack(
  transaction: AsService,
  link: { team: string; user: string; name: string; userId: string; timeZone: string | null; now: Date },
): Promise<void> {
  await transaction.statement(
    `insert into public.slack_links (team_id, slack_user, user_id, name, time_zone, created_at)
     values ($1, $2, $3, $4, $5, $6)
     on conflict (team_id, slack_user) do update
       set user_id = excluded.user_id, name = excluded.name, time_zone = excluded.time_zone, created_at = excluded.created_at`,
    [link.team, link.user, link.userId, link.name, link.timeZone, link.now],
  );
}

/** False if the user has no such link. */
export async function unlinkSlack(service: AsService, userId: string, team: string, user: string): Promise<boolean> {
  const { rowCount } = await service.statement(
    'delete from public.slack_links where user_id = $1 and team_id = $2 and slack_user = $3',
    [userId, team, user],
  );
  return rowCount > 0;
}
