import { expect, test } from 'vitest';
import { detectProgram, readFiles, sourceFiles } from '../../../tests/support/journal-files.ts';
import { journey } from './journey.ts';

const read = (contents: Record<string, unknown>, zone?: string) =>
  readFiles(
    journey,
    sourceFiles(Object.fromEntries(Object.entries(contents).map(([path, value]) => [path, JSON.stringify(value)]))),
    zone,
  );

const entry = {
  id: '1764325584203-MgdL0i6fNq7wNsLw',
  date_journal: Date.UTC(2025, 10, 28, 23, 30),
  timezone: 'Europe/Berlin',
  text: '<p dir="auto">A new entry</p>',
  type: 'html',
};

test('reads both schemas of Journey by the entry’s own zone', async () => {
  const { date_journal: _, ...rest } = entry;
  const { entries } = await read({
    'a.json': { ...entry, photos: ['a.jpg', 'b.mp3'] },
    'b.json': {
      ...rest,
      dateOfJournal: '2025-03-22T23:23:07.000Z',
      timezone: 'Asia/Tokyo',
      attachments: ['c.jpg'],
      schemaVersion: 2,
    },
  });
  expect(entries).toMatchObject([
    { day: '2025-11-29', time: '00:30:00', pictures: 2, body: { format: 'html', text: entry.text } },
    { day: '2025-03-23', time: '08:23:07', pictures: 1 },
  ]);
  expect(await detectProgram(sourceFiles({ 'x.json': '{"id":"1","dateOfJournal":"2025-03-22T23:23:07.000Z"}' }))).toBe(
    'Journey',
  );
});

test('an entry of Journey from before 1973 is in milliseconds too', async () => {
  const { entries } = await read({ 'a.json': { ...entry, date_journal: 86_400_000, timezone: 'UTC' } });
  expect(entries).toMatchObject([{ day: '1970-01-02', time: '00:00:00' }]);
});

test('old entries of Journey are Markdown unless they begin with an element', async () => {
  const { entries } = await read({
    'a.json': { ...entry, type: '', text: 'Two *words*\n- one' },
    'b.json': { ...entry, type: undefined, text: '<p>Old HTML</p>' },
    'c.json': { ...entry, type: 'markdown', text: '5 < 6' },
  });
  expect(entries.map(({ body }) => body.format)).toEqual(['markdown', 'html', 'markdown']);
});

test('entries of Journey without a date, text or key are named', async () => {
  const { skipped } = await read({
    'a.json': { ...entry, date_journal: undefined },
    'b.json': { ...entry, date_journal: 1e300 },
    'c.json': { ...entry, text: '', photos: [] },
    'd.json': { ...entry, encrypted: true, text: 'U2FsdGVk' },
  });
  expect(skipped.map(({ source, reason }) => `${source}: ${reason}`)).toEqual([
    'a.json: noDate',
    'b.json: invalidDate',
    'c.json: empty',
    'd.json: encrypted',
  ]);
});
