/** Consent is given to one AI provider: a change of provider resets the consent of all users. */
import { pino } from 'pino';
import { beforeAll, expect, test } from 'vitest';
import { resetConsentOnProviderChange } from '#server/coach/coach-store.ts';
import { setUpWorld } from '../../support/set-up.ts';
import { GOOD_DAY, startCoachWorld } from './fixture.ts';
import { today } from '../data/fixture.ts';

const DATE = { date: today() };

const world = setUpWorld(startCoachWorld);
beforeAll(async () => {
  await world.writeLog(world.cleo, today(), GOOD_DAY);
});

const lines: string[] = [];
const startWithProvider = (provider: string) =>
  resetConsentOnProviderChange(
    world.server.database,
    provider,
    pino({ base: null }, { write: (line) => void lines.push(line) }),
  );
const readStoredProvider = async () => (await world.server.admin.query('select name from public.coach_reader')).rows;

test('stores the provider on server start and keeps consent when it is unchanged', async () => {
  const { providerName } = world.server.config.coach!;
  expect(await readStoredProvider()).toEqual([{ name: providerName }]);
  await startWithProvider(providerName);
  expect((await world.feedback(world.cleo, DATE)).status).toBe(200);
  expect(lines).toEqual([]);
});

test('a changed provider resets consent, also for a server process that is already running', async () => {
  await startWithProvider('Anthropic Claude');
  expect(await readStoredProvider()).toEqual([{ name: 'Anthropic Claude' }]);
  expect(await world.feedback(world.cleo, DATE)).toMatchObject({ status: 403, json: { code: 'ai_consent' } });
  expect(lines.join('')).toMatch(/"accounts":1,.*consent was reset/);
  const profiles = world.cleo.client.from('profiles');
  expect((await profiles.select('ai_consent').eq('id', world.cleo.id)).data).toEqual([{ ai_consent: false }]);
  await profiles.update({ ai_consent: true }).eq('id', world.cleo.id);
  expect((await world.feedback(world.cleo, DATE)).status).toBe(200);
});

test('keeps consent that was given before a provider was stored', async () => {
  await world.server.admin.query('delete from public.coach_reader');
  await startWithProvider('Google Gemini');
  expect((await world.feedback(world.cleo, DATE)).status).toBe(200);
  expect(await readStoredProvider()).toEqual([{ name: 'Google Gemini' }]);
});
