/**
 * Two and more clients of one account in any order of renewals, lost answers, factors, sign-outs, password changes and
 * deletions, compared with a model of the sessions (docs/specification/api.md 10, 11, 12, 31 and 34).
 */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { fuzzBudget } from '../../support/fuzz-budget.ts';
import { totpCode } from '../../support/totp-code.ts';
import { setUpAuthWorld, PASSWORD, type WireBody } from './fixture.ts';

const world = setUpAuthWorld();

const SECOND = 1_000;
const HOUR = 3_600 * SECOND;
const ACCESS_TOKEN_MS = HOUR;
const REUSE_WINDOW_MS = 10 * SECOND;
const LOST_ANSWER_MS = 48 * HOUR;
const RECENT_MS = 24 * HOUR;
const MAX_SESSIONS = 4;

type Token = { value: string; issuedAt: number; isReissued: boolean };
type Session = {
  id: string;
  /** Oldest first; the last one is active. */
  tokens: Token[];
  /** Tokens before this index are from before a second step and no longer renew the session. */
  firstValid: number;
  /** The newest access token, and the one before, which a client still holds if the newest answer was lost. */
  access: { value: string; issuedAt: number }[];
  aal: 'aal1' | 'aal2';
  createdAt: number;
  /** Null without a second step. */
  secondStepAt: number | null;
  isAlive: boolean;
};
type Model = {
  email: string;
  password: string;
  passwords: number;
  sessions: Session[];
  totp: { id: string; secret: string } | null;
  /** Set while the account is marked for deletion. */
  undoToken: string | null;
};

const now = (): number => world.clock.now().getTime();
const claimsOf = (token: string) => JSON.parse(Buffer.from(token.split('.')[1]!, 'base64url').toString());
const renew = (token: string) =>
  world.request('POST', '/token?grant_type=refresh_token', { body: { refresh_token: token } });

const alive = (model: Model): Session[] => model.sessions.filter(({ isAlive }) => isAlive);
const hasLiveSession = (model: Readonly<Model>): boolean => model.sessions.some(({ isAlive }) => isAlive);
const pick = <Item>(items: readonly Item[], choice: number): Item => items[choice % items.length]!;
const end = (sessions: Session[]): void => sessions.forEach((session) => (session.isAlive = false));
const others = (model: Model, session: Session): Session[] => model.sessions.filter((each) => each !== session);
const isRecent = ({ createdAt, secondStepAt }: Session): boolean =>
  now() - Math.max(createdAt, secondStepAt ?? 0) < RECENT_MS;
const lacksSecondStep = ({ totp }: Model, { aal }: Session): boolean => totp !== null && aal === 'aal1';

function addToken(session: Session, body: WireBody): void {
  const { refresh_token } = body;
  expect(session.tokens.map(({ value }) => value)).not.toContain(refresh_token);
  session.tokens.push({ value: refresh_token, issuedAt: now(), isReissued: false });
  addAccessToken(session, body);
}

function addAccessToken(session: Session, { access_token: value }: WireBody): void {
  const claims = claimsOf(value);
  expect([claims.session_id, claims.aal]).toEqual([session.id, session.aal]);
  session.access = [...session.access.slice(-1), { value, issuedAt: now() }];
}

/** An access token opens the account while its session lives, whatever other clients have done. */
async function checkAccess({ sessions }: Model): Promise<void> {
  for (const { access, isAlive } of sessions) {
    for (const { value, issuedAt } of access) {
      // Skips older tokens: the test clock follows real time, so on a slow machine they might expire during the test.
      if (now() - issuedAt > ACCESS_TOKEN_MS / 2) continue;
      const { status, body } = await world.request('GET', '/user', { token: value });
      expect([status, body.code]).toEqual(isAlive ? [200, undefined] : [403, 'session_not_found']);
    }
  }
}

/** A live session's active token always renews. Returns an access token. */
async function renewActive(session: Session): Promise<string> {
  const { status, body } = await renew(session.tokens.at(-1)!.value);
  expect(status, JSON.stringify(body)).toBe(200);
  addToken(session, body);
  return body.access_token;
}

async function presentToken(session: Session, age: number): Promise<void> {
  const index = Math.max(0, session.tokens.length - 1 - age);
  const [token, successor] = [session.tokens[index]!, session.tokens[index + 1]];
  // The test clock follows real time, so on a slow machine the reuse window might end now. Ends it for certain.
  if (successor && now() - successor.issuedAt > REUSE_WINDOW_MS / 2) world.clock.advance(REUSE_WINDOW_MS);
  const { status, body } = await renew(token.value);
  if (!session.isAlive || index < session.firstValid) {
    expect([status, body.code]).toEqual([400, 'refresh_token_not_found']);
    return;
  }
  if (!successor) {
    expect(status).toBe(200);
    addToken(session, body);
    return;
  }
  const replacedMsAgo = now() - successor.issuedAt;
  const isParent = index === session.tokens.length - 2;
  if (replacedMsAgo >= REUSE_WINDOW_MS) {
    if (!isParent || token.isReissued || replacedMsAgo >= LOST_ANSWER_MS) {
      expect([status, body.code]).toEqual([400, 'refresh_token_already_used']);
      session.isAlive = false;
      return;
    }
    successor.isReissued = true;
  }
  expect([status, body.refresh_token]).toEqual([200, session.tokens.at(-1)!.value]);
  addAccessToken(session, body);
}

async function verifyTotp(token: string, totp: { id: string; secret: string }, isRight = true) {
  // The server accepts each code once: the next one exists 30 seconds later.
  world.clock.advance(30 * SECOND);
  const challenge = await world.request('POST', `/factors/${totp.id}/challenge`, { token, body: {} });
  expect(challenge.status, JSON.stringify(challenge.body)).toBe(200);
  const code = totpCode(totp.secret, now());
  const sent = isRight ? code : String((Number(code) + 500_000) % 1_000_000).padStart(6, '0');
  const body = { challenge_id: challenge.body.id, code: sent };
  return world.request('POST', `/factors/${totp.id}/verify`, { token, body });
}

function passSecondStep(model: Model, session: Session, body: WireBody): void {
  session.aal = 'aal2';
  session.secondStepAt = now();
  addToken(session, body);
  session.firstValid = session.tokens.length - 1;
  end(others(model, session).filter(({ aal }) => aal === 'aal1'));
}

type SessionCommand = fc.AsyncCommand<Model, object>;
const command = (
  name: string,
  check: (model: Readonly<Model>) => boolean,
  run: (model: Model) => Promise<void>,
): SessionCommand => ({
  check,
  run: async (model) => {
    await run(model);
    await checkAccess(model);
  },
  toString: () => name,
});
/** A command of a live session, which gets an access token by renewing. */
const bySession = (
  name: string,
  choice: number,
  run: (model: Model, session: Session, token: string) => Promise<void>,
): SessionCommand =>
  command(`${name} by ${choice}`, hasLiveSession, async (model) => {
    const session = pick(alive(model), choice);
    await run(model, session, await renewActive(session));
  });

const signIn = command(
  'sign in',
  (model) => alive(model).length < MAX_SESSIONS,
  async (model) => {
    const body = { email: model.email, password: model.password };
    const response = await world.request('POST', '/token?grant_type=password', { body });
    expect(response.status, JSON.stringify(response.body)).toBe(200);
    expect(response.body.deletion_undone).toBe(model.undoToken === null ? undefined : true);
    model.undoToken = null;
    model.sessions.push(toSession(response.body));
  },
);

function toSession(body: WireBody): Session {
  const claims = claimsOf(body.access_token);
  expect(claims.aal).toBe('aal1');
  return {
    id: claims.session_id,
    tokens: [{ value: body.refresh_token, issuedAt: now(), isReissued: false }],
    firstValid: 0,
    access: [{ value: body.access_token, issuedAt: now() }],
    aal: 'aal1',
    createdAt: now(),
    secondStepAt: null,
    isAlive: true,
  };
}

const wait = (ms: number): SessionCommand =>
  command(
    `wait ${ms / SECOND} s`,
    // The test never waits until a pending deletion is due.
    ({ undoToken }) => undoToken === null || ms < HOUR,
    async () => world.clock.advance(ms),
  );

const present = (choice: number, age: number): SessionCommand =>
  command(
    `renew ${choice} with a token of ${age} generations ago`,
    () => true,
    (model) => presentToken(pick(model.sessions, choice), age),
  );

const renewTwice = (choice: number): SessionCommand =>
  command(`renew ${choice} in two tabs`, hasLiveSession, async (model) => {
    const session = pick(alive(model), choice);
    const { value } = session.tokens.at(-1)!;
    const [first, second] = await Promise.all([renew(value), renew(value)]);
    expect([first.status, second.status, second.body.refresh_token]).toEqual([200, 200, first.body.refresh_token]);
    addToken(session, first.body);
  });

const enrol = (choice: number): SessionCommand =>
  bySession('enrol', choice, async (model, session, token) => {
    if (model.totp !== null) return;
    const body = { factor_type: 'totp', friendly_name: 'app' };
    const enrolled = await world.request('POST', '/factors', { token, body });
    expect(enrolled.status === 200, JSON.stringify(enrolled.body)).toBe(isRecent(session));
    if (enrolled.status !== 200) return;
    const totp = { id: enrolled.body.id, secret: enrolled.body.totp.secret };
    const verified = await verifyTotp(token, totp);
    expect(verified.status, JSON.stringify(verified.body)).toBe(200);
    model.totp = totp;
    passSecondStep(model, session, verified.body);
  });

const verify = (choice: number, isRight: boolean): SessionCommand =>
  bySession(isRight ? 'second step' : 'wrong code', choice, async (model, session, token) => {
    if (model.totp === null) return;
    const verified = await verifyTotp(token, model.totp, isRight);
    expect(verified.status === 200, JSON.stringify(verified.body)).toBe(isRight);
    if (isRight) passSecondStep(model, session, verified.body);
  });

const removeFactor = (choice: number): SessionCommand =>
  bySession('remove factor', choice, async (model, session, token) => {
    if (model.totp === null) return;
    const { status } = await world.request('DELETE', `/factors/${model.totp.id}`, { token });
    expect(status === 200).toBe(session.aal === 'aal2' && isRecent(session));
    if (status !== 200) return;
    model.totp = null;
    for (const each of model.sessions) Object.assign(each, { aal: 'aal1', secondStepAt: null });
  });

const logout = (choice: number, scope: 'global' | 'local' | 'others'): SessionCommand =>
  bySession(`sign out (${scope})`, choice, async (model, session, token) => {
    expect((await world.request('POST', `/logout?scope=${scope}`, { token })).status).toBe(204);
    const isHalf = lacksSecondStep(model, session);
    if (scope !== 'local') end(others(model, session).filter(({ aal }) => !isHalf || aal === 'aal1'));
    if (scope !== 'others') end([session]);
  });

const changePassword = (choice: number): SessionCommand =>
  bySession('change password', choice, async (model, session, token) => {
    const password = `tamarind kelp no ${(model.passwords += 1)}`;
    const { status } = await world.request('PUT', '/user', { token, body: { password } });
    expect(status === 200).toBe(!lacksSecondStep(model, session) && isRecent(session));
    if (status !== 200) return;
    model.password = password;
    end(others(model, session));
  });

const endFromList = (choice: number, target: number): SessionCommand =>
  bySession(`end session ${target} from the list`, choice, async (model, session, token) => {
    const list = await world.request('GET', '/sessions', { token });
    if (lacksSecondStep(model, session)) {
      expect([list.status, list.body.code]).toEqual([403, 'insufficient_aal']);
      const refused = await world.request('DELETE', `/sessions/${pick(model.sessions, target).id}`, { token });
      expect([refused.status, refused.body.code]).toEqual([403, 'insufficient_aal']);
      return;
    }
    const listed = list.body.sessions.map(({ id }: { id: string }) => id);
    expect(listed.toSorted()).toEqual(
      alive(model)
        .map(({ id }) => id)
        .toSorted(),
    );
    const ended = pick(model.sessions, target);
    const { status } = await world.request('DELETE', `/sessions/${ended.id}`, { token });
    expect(status).toBe(ended.isAlive ? 204 : 404);
    end([ended]);
  });

const requestDeletion = (choice: number): SessionCommand =>
  bySession('delete the account', choice, async (model, session, token) => {
    const { status, body } = await world.request('DELETE', '/account', { token, body: { password: model.password } });
    expect(status === 200, JSON.stringify(body)).toBe(!lacksSecondStep(model, session));
    if (status !== 200) return;
    end(model.sessions);
    model.undoToken = body.undo_token;
  });

const undoDeletion = command(
  'undo the deletion',
  ({ undoToken }) => undoToken !== null,
  async (model) => {
    const body = { token_hash: model.undoToken };
    expect((await world.request('POST', '/account/undo-deletion', { body })).status).toBe(200);
    model.undoToken = null;
  },
);

const choice = fc.nat(MAX_SESSIONS);
const COMMANDS = [
  fc.constant(signIn),
  fc.constant(signIn),
  fc.constantFrom(SECOND, 61 * SECOND, 1.1 * HOUR, 31 * HOUR).map(wait),
  fc.tuple(choice, fc.constantFrom(0, 1, 1, 2, 3)).map(([session, age]) => present(session, age)),
  fc.tuple(choice, fc.constantFrom(0, 1, 1, 2, 3)).map(([session, age]) => present(session, age)),
  choice.map(renewTwice),
  choice.map(enrol),
  fc.tuple(choice, fc.constantFrom(true, true, false)).map(([session, isRight]) => verify(session, isRight)),
  choice.map(removeFactor),
  fc.tuple(choice, fc.constantFrom('global', 'local', 'others')).map(([session, scope]) => logout(session, scope)),
  choice.map(changePassword),
  fc.tuple(choice, choice).map(([session, target]) => endFromList(session, target)),
  choice.map(requestDeletion),
  fc.constant(undoDeletion),
];

/** A dead session's token never renews, a live session's active token always does. */
async function checkEnd(model: Model, userId: string): Promise<void> {
  const { rows } = await world.admin.query('select id, aal from auth.sessions where user_id = $1', [userId]);
  const stored = rows.map(({ id, aal }) => `${id} ${aal}`).toSorted();
  expect(stored).toEqual(
    alive(model)
      .map(({ id, aal }) => `${id} ${aal}`)
      .toSorted(),
  );
  for (const session of model.sessions) await presentToken(session, 0);
  for (const { tokens, firstValid } of model.sessions) {
    for (const { value } of tokens.slice(0, firstValid)) {
      expect((await renew(value)).body.code).toBe('refresh_token_not_found');
    }
  }
}

const LONG = process.env['TEST_LONG'] !== undefined;

test('clients of one account in any order match the model of its sessions', async () => {
  await fc.assert(
    fc.asyncProperty(fc.commands(COMMANDS, { maxCommands: 30, size: 'max' }), async (commands) => {
      const { email, id, access, refresh } = await world.signUpUser();
      const first = toSession({ access_token: access, refresh_token: refresh });
      const model: Model = { email, password: PASSWORD, passwords: 0, sessions: [first], totp: null, undoToken: null };
      await fc.asyncModelRun(() => ({ model, real: {} }), commands);
      await checkEnd(model, id);
    }),
    { numRuns: fuzzBudget(8), ...(!LONG && { seed: 20_261_122 }) },
  );
});
