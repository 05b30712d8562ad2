/** An agreement is to one reader: where an operator has somebody else read the logs, everybody is asked anew. */
import { pino } from 'pino';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { askAnewForReader } from '#server/coach/provider-consent.ts';
import { GOOD_DAY, startCoachWorld } from './world.ts';
import type { CoachWorld } from './world.ts';
import { today } from '../data/world.ts';

const DATE = { date: today() };

let world: CoachWorld;
beforeAll(async () => {
  world = await startCoachWorld();
  await world.wrote(world.cleo, today(), GOOD_DAY);
});
afterAll(() => world.close());

const lines: string[] = [];
const startsWith = (reader: string) =>
  askAnewForReader(world.server.database, reader, pino({ base: null }, { write: (line) => void lines.push(line) }));
const reader = async () => (await world.server.admin.query('select name from public.coach_reader')).rows;

test('the reader is known from the start of the server on, and the same one again changes nothing', async () => {
  const { readBy } = world.server.config.coach!;
  expect(await reader()).toEqual([{ name: readBy }]);
  await startsWith(readBy);
  expect((await world.feedback(world.cleo, DATE)).status).toBe(200);
  expect(lines).toEqual([]);
});

test('another one is read by nobody who has agreed to the one before, also in a process that still runs', async () => {
  await startsWith('Anthropic Claude');
  expect(await reader()).toEqual([{ name: 'Anthropic Claude' }]);
  expect(await world.feedback(world.cleo, DATE)).toMatchObject({ status: 403, json: { code: 'ai_consent' } });
  expect(lines.join('')).toMatch(/"accounts":1,.*asked anew/);
  const profiles = world.cleo.client.from('profiles');
  expect((await profiles.select('ai_consent').eq('id', world.cleo.id)).data).toEqual([{ ai_consent: false }]);
  await profiles.update({ ai_consent: true }).eq('id', world.cleo.id);
  expect((await world.feedback(world.cleo, DATE)).status).toBe(200);
});

test('what was agreed to before anybody wrote down the reader holds', async () => {
  await world.server.admin.query('delete from public.coach_reader');
  await startsWith('Google Gemini');
  expect((await world.feedback(world.cleo, DATE)).status).toBe(200);
  expect(await reader()).toEqual([{ name: 'Google Gemini' }]);
});
