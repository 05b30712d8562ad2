/** Laws of the readers: what a program wrote comes back, whatever the machine's zone, and nothing makes a reader throw. */
import fc from 'fast-check';
import { describe, expect, test, vi } from 'vitest';
import { fuzzBudget } from '../../../tests/support/fuzz-budget.ts';
import { detectProgram, readFiles, sourceFiles } from '../../../tests/support/journal-files.ts';
import { PROGRAMS, written, type Written } from '../../../tests/support/journal-programs.ts';

/** Formats with one entry a day. */
const onePerDay = (entries: readonly Written[]): Written[] => [
  ...new Map(entries.map((entry) => [entry.day, entry])).values(),
];
const key = (day: string, time: string | null, title: string | null): string => `${day} ${time} ${title}`;

describe.each(['America/Los_Angeles', 'Pacific/Kiritimati'])('with the clock of %s', (machineZone) => {
  test.each(Object.entries(PROGRAMS))('the entries of %s come back on their own days', async (_, program) => {
    vi.stubEnv('TZ', machineZone);
    const timeOf = program.timeOf ?? ((time: string) => time);
    await fc.assert(
      fc.asyncProperty(fc.array(written, { minLength: 1, maxLength: 8 }), async (list) => {
        const zone = list[0]!.zone;
        const entries = onePerDay(program.keepsZone ? list : list.map((entry) => ({ ...entry, zone })));
        const files = sourceFiles(program.write(entries));
        expect(await detectProgram(files)).toBe(program.reader.program);
        const read = await readFiles(program.reader, files, program.keepsZone ? 'Europe/London' : zone);
        expect(read.skipped).toEqual([]);
        expect(read.entries.map(({ day, time, title }) => key(day, time, title)).toSorted()).toEqual(
          entries.map(({ day, time, title }) => key(day, timeOf(time), program.keepsTitle ? title : null)).toSorted(),
        );
        for (const { day, title, text } of entries) {
          const body = read.entries.find((entry) => entry.day === day)!.body.text;
          expect(body).toContain(text);
          if (!program.keepsTitle) expect(body).toContain(title);
        }
      }),
      { numRuns: fuzzBudget(15) },
    );
  });
});

const samples: readonly Written[] = [
  { day: '2024-02-29', time: '23:59:00', zone: 'America/Phoenix', title: 'One', text: 'First text' },
  { day: '2024-03-01', time: '00:01:00', zone: 'Asia/Kathmandu', title: 'Two', text: 'Second text' },
];

test.each(Object.entries(PROGRAMS))('%s that is cut anywhere ends no reader', async (_, { reader, write }) => {
  const whole = Object.entries(write(samples));
  await fc.assert(
    fc.asyncProperty(fc.nat(), async (at) => {
      const files = sourceFiles(
        Object.fromEntries(whole.map(([path, text]) => [path, text.slice(0, at % text.length)])),
      );
      const { entries, skipped } = await readFiles(reader, files);
      for (const { day } of entries) expect(day).toMatch(/^\d{4}-\d{2}-\d{2}$/);
      for (const { source } of skipped) expect(files.some(({ path }) => source.startsWith(path))).toBe(true);
    }),
    { numRuns: fuzzBudget(40) },
  );
});

test.each(Object.entries(PROGRAMS))(
  '%s with long runs of a sign is read in linear time',
  async (_, { reader, write }) => {
    // Quadratic time would exceed the test's timeout.
    for (const sign of [' ', '#', '\n ', '\r']) {
      const run = `a${sign.repeat(200_000)}b`;
      for (const change of [{ title: run }, { text: run }])
        await readFiles(reader, sourceFiles(write([{ ...samples[0]!, ...change }])));
    }
  },
);

/** The same JSON with one value of it replaced. */
function replaceValue(value: unknown, at: { left: number }, by: unknown): unknown {
  at.left -= 1;
  if (at.left < 0) {
    at.left = Infinity;
    return by;
  }
  if (Array.isArray(value)) return value.map((item) => replaceValue(item, at, by));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, replaceValue(item, at, by)]));
}

const JSON_PROGRAMS = Object.entries(PROGRAMS).filter(([, { write }]) =>
  Object.values(write(samples)).some((text) => /^[[{]"/.test(text)),
);

test.each(JSON_PROGRAMS)('%s with a value of another type ends no reader', async (_, { reader, write }) => {
  const whole = Object.entries(write(samples));
  await fc.assert(
    fc.asyncProperty(fc.nat(60), fc.jsonValue(), async (at, by) => {
      const replaced = whole.map(([path, text]) => [
        path,
        /^[[{]"/.test(text) ? JSON.stringify(replaceValue(JSON.parse(text), { left: at }, by)) : text,
      ]);
      const { entries } = await readFiles(reader, sourceFiles(Object.fromEntries(replaced)));
      for (const { day, body, title } of entries) {
        expect(day).toMatch(/^\d{4}-\d{2}-\d{2}$/);
        expect(typeof body.text).toBe('string');
        expect(title === null || title.trim() !== '').toBe(true);
      }
    }),
    { numRuns: fuzzBudget(60) },
  );
});
