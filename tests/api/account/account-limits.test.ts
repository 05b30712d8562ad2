/**
 * The rate limits of the deletion of an account and of the archive (docs/specification/api.md 34,
 * docs/specification/accounts.md 12).
 */
import { describe, expect, test } from 'vitest';
import { createLog } from '#server/log.ts';
import { deleteDueAccounts } from '#server/auth/own-account/delete-account.ts';
import { setUpAuthWorld, PASSWORD, newAddress } from '../auth/fixture.ts';

describe('with rate limits', () => {
  const limited = setUpAuthWorld({ AUTH_RATE_LIMITS: 'on', CLIENT_ADDRESS_HEADER: 'X-Real-Ip' });
  let lastAddress = 0;
  const newNetwork = () => ({ 'X-Real-Ip': `192.0.2.${(lastAddress += 1)}` });
  const archive = (token: string) =>
    fetch(`${limited.url}/functions/v1/archive`, {
      method: 'POST',
      headers: { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json', ...newNetwork() },
      body: JSON.stringify({ password: PASSWORD }),
    });

  test('a network gets 429 after thirty guesses of an undo token in five minutes', async () => {
    const headers = newNetwork();
    const guess = () => limited.request('POST', '/account/undo-deletion', { body: { token_hash: 'x' }, headers });
    for (let count = 0; count < 30; count += 1) expect((await guess()).status).toBe(403);
    expect((await guess()).status).toBe(429);
  });

  test('wrong passwords count together with those at sign-in, and a fourth request for the archive gets 429', async () => {
    const email = newAddress();
    const { access, id } = await limited.signUpUser(email);
    for (let count = 0; count < 3; count += 1) expect((await archive(access)).status).toBe(200);
    const refused = await archive(access);
    expect([refused.status, await refused.json()]).toEqual([
      429,
      expect.objectContaining({ success: false, code: 'over_archive_limit' }),
    ]);
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(29 * 86_400);

    const guess = () =>
      limited.request('DELETE', '/account', { token: access, body: { password: 'wrong' }, headers: newNetwork() });
    for (let count = 0; count < 10; count += 1) expect((await guess()).status).toBe(400);
    expect((await guess()).status).toBe(429);
    const afterGuesses = await archive(access);
    expect([afterGuesses.status, await afterGuesses.json()]).toEqual([
      429,
      expect.objectContaining({ code: 'over_request_rate_limit' }),
    ]);
    const atSignIn = await limited.request('POST', '/token?grant_type=password', {
      body: { email, password: PASSWORD },
      headers: newNetwork(),
    });
    expect(atSignIn.status).toBe(429);

    const keys = async (): Promise<number> =>
      (await limited.admin.query("select 1 from auth.rate_limits where key like '%' || $1", [id])).rowCount!;
    expect(await keys()).toBe(1);
    await limited.admin.query("update auth.users set deletion_due_at = now() - interval '1 second' where id = $1", [
      id,
    ]);
    const deps = { database: limited.database, clock: limited.clock, log: createLog('error') };
    const mailer = { send: () => undefined };
    const signal = new AbortController().signal;
    expect(await deleteDueAccounts({ ...deps, mailer, findRateLimitKeys: () => [] }, signal)).toBe(1);
    expect(await keys()).toBe(0);
  });
});
