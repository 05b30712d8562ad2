import { describe, expect, test } from 'vitest';
import { detectProgram, readFiles, sourceFiles } from '../../../tests/support/journal-files.ts';
import { SKIP_REASONS } from './journal-reader.ts';
import { jrnl } from './jrnl.ts';

const exportOf = (...entries: unknown[]): string => JSON.stringify({ tags: { '@work': 1 }, entries });

describe('the JSON export of jrnl', () => {
  test('is recognised by its tags and entries, and other JSON is not', async () => {
    expect(await detectProgram(sourceFiles({ 'journal.json': exportOf() }))).toBe('jrnl');
    expect(await detectProgram(sourceFiles({ 'other.json': '{"entries":[]}' }))).toBeNull();
    expect(await detectProgram(sourceFiles({ 'notes.txt': exportOf() }))).toBeNull();
  });

  test('gives each entry its own date and time, and names entries without a readable date', async () => {
    const text = exportOf(
      { title: 'Back to work.', body: 'Two *calls*.', date: '2024-01-08', time: '19:00', tags: [], starred: false },
      { title: '', body: 'No title', date: '2024-01-09', time: 'late' },
      { title: 'x', body: '', date: '2024-02-30', time: '07:00' },
      { title: 'x', body: '' },
      null,
    );
    const { entries, skipped } = await readFiles(jrnl, sourceFiles({ 'j/journal.json': text }));
    const common = { kind: 'entry', pictures: 0 };
    expect(entries).toEqual([
      {
        ...common,
        day: '2024-01-08',
        time: '19:00',
        title: 'Back to work.',
        body: { format: 'markdown', text: 'Two *calls*.' },
        source: 'j/journal.json, entry 1',
      },
      {
        ...common,
        day: '2024-01-09',
        time: null,
        title: null,
        body: { format: 'markdown', text: 'No title' },
        source: 'j/journal.json, entry 2',
      },
    ]);
    expect(skipped.map(({ source, reason }) => `${source}: ${SKIP_REASONS[reason]}`)).toEqual([
      'j/journal.json, entry 3: This date does not exist.',
      'j/journal.json, entry 4: No date found.',
      'j/journal.json, entry 5: No date found.',
    ]);
  });

  test('reports a damaged file', async () => {
    const { entries, skipped } = await readFiles(jrnl, sourceFiles({ 'journal.json': '{"tags":{},"entries":[{' }));
    expect(entries).toEqual([]);
    expect(skipped).toEqual([{ kind: 'skipped', source: 'journal.json', reason: 'broken' }]);
  });
});
