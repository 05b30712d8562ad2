/** Property test of two devices that write on the same day, online and offline. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { day } from '#domain/day/day.ts';
import { createVirtualTime, loadedMerge, log } from '../../../../tests/support/day-saver-harness.ts';
import { fuzzBudget } from '../../../../tests/support/fuzz-budget.ts';
import type { DayDraft } from '../day-drafts.ts';
import type { EntryTransport, StoredLog } from '../save-requests.ts';
import { createDaySaver } from './day-saver.ts';

const DATE = day('2026-11-21');
const itemsOf = (html: string): string[] => [...html.matchAll(/<p>([^<]+)<\/p>/g)].map((match) => match[1]!);

type Edit = { do: 'insert' | 'edit' | 'delete'; device: number; at: number };
type Step = Edit | { do: 'offline' | 'online' | 'reload' | 'offer'; device: number } | { do: 'advance'; ms: number };

const device = fc.nat(1);
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 5, arbitrary: fc.record({ do: fc.constant('insert' as const), device, at: fc.nat(9) }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constantFrom('edit', 'delete'), device, at: fc.nat(9) }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constantFrom('offline', 'online', 'reload', 'offer'), device }) },
  { weight: 5, arbitrary: fc.constantFrom(1, 30, 2_050, 12_000).map((ms): Step => ({ do: 'advance', ms })) },
);

function createWorld() {
  const { timers, advance } = createVirtualTime();
  let row: StoredLog | null = null;
  let words = 0;
  /** For each word, the devices that edited, and those that deleted, an item with this word. */
  const edited = new Map<string, Set<number>>();
  const deleted = new Map<string, Set<number>>();
  const written: string[] = [];
  const add = (map: Map<string, Set<number>>, item: string, by: number): void => {
    for (const word of item.split(' ')) map.set(word, new Set([...(map.get(word) ?? []), by]));
  };

  function createDevice(index: number) {
    const self = { isOnline: true, text: '', draft: null as DayDraft | null };
    async function request<T>(answer: () => T): Promise<T | { kind: 'unreachable' }> {
      await new Promise<void>((resolve) => void timers.after(10, resolve));
      if (!self.isOnline) return { kind: 'unreachable' };
      const outcome = answer();
      // Every answer arrives. After a lost answer a device could not tell lines that the other device deleted since
      // from lines that it has not sent yet.
      await new Promise<void>((resolve) => void timers.after(10, resolve));
      return outcome;
    }
    const isAt = (version: { id: string; revision: number }): boolean =>
      row?.id === version.id && row.revision === version.revision;
    const store = (id: string, revision: number, html: string) => {
      row = { id, revision, html, savedAt: timers.now() };
      return { ...row, kind: 'stored' as const };
    };
    const transport: EntryTransport = {
      read: () => request(() => ({ kind: 'read' as const, stored: row })),
      insert: (_date, html, id) => request(() => (row ? { kind: 'changed' } : store(id, 1, html))),
      update: (_date, html, version) =>
        request(() => (isAt(version) ? store(version.id, version.revision + 1, html) : { kind: 'changed' })),
      remove: (_date, version) =>
        request(() => {
          if (!isAt(version)) return { kind: 'changed' };
          row = null;
          return { kind: 'removed' };
        }),
    };
    const load = () => {
      const saver = createDaySaver({
        ...{ date: DATE, stored: row, transport, timers, merger: loadedMerge },
        isOnline: () => self.isOnline,
        isHidden: () => false,
        drafts: { store: (draft) => Boolean((self.draft = draft)), drop: () => void (self.draft = null) },
        onStored: () => {},
      });
      if (self.draft) saver.restore(self.draft);
      self.text = saver.text();
      saver.attachEditor({
        read: () => self.text,
        replace: (html) => void (self.text = html),
        isComposing: () => false,
      });
      return saver;
    };
    let saver = load();
    const type = (items: readonly string[]): void => {
      self.text = log(...items);
      saver.recordEdit();
    };
    const newWord = (): string => {
      // Words of equal length, so that no word is the beginning of another word.
      const word = `word${String((words += 1)).padStart(4, '0')}`;
      written.push(word);
      return word;
    };
    return {
      self,
      saver: () => saver,
      offer: () => saver.takeRow(row, timers.now()),
      /** Only online, because the page loads from the server. Waits for the request in flight, so no answer is lost. */
      async reload() {
        if (!self.isOnline) return;
        await advance(100);
        saver.close();
        saver = load();
      },
      edit({ do: kind, at }: Edit) {
        const items = itemsOf(self.text);
        const i = items.length === 0 ? 0 : at % items.length;
        if (kind === 'insert') return type(items.toSpliced(at % (items.length + 1), 0, newWord()));
        if (items.length === 0) return;
        add(kind === 'edit' ? edited : deleted, items[i]!, index);
        if (kind === 'delete') return type(items.toSpliced(i, 1));
        type(items.with(i, index === 0 ? `${items[i]!} ${newWord()}` : `${newWord()} ${items[i]!}`));
      },
    };
  }

  return { devices: [createDevice(0), createDevice(1)] as const, advance, edited, deleted, written, row: () => row };
}

test('two devices end with the same day, with every line, and without the lines that one deleted and the other left alone', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 40 }), async (steps) => {
      const world = createWorld();
      for (const taken of steps) {
        if (taken.do === 'advance') await world.advance(taken.ms);
        else {
          const at = world.devices[taken.device]!;
          if (taken.do === 'offer') at.offer();
          else if (taken.do === 'reload') await at.reload();
          else if ('at' in taken) at.edit(taken);
          else at.self.isOnline = taken.do === 'online';
        }
      }
      for (let round = 0; round < 4; round += 1)
        for (const at of world.devices) {
          at.self.isOnline = true;
          at.saver().retry();
          await world.advance(40_000);
          at.saver().keepBoth();
          await world.advance(40_000);
          at.offer();
        }
      const html = world.row()?.html ?? '';
      for (const { self, saver } of world.devices) {
        expect(saver().view()).toMatchObject({ unsaved: false, conflict: null });
        expect(itemsOf(self.text)).toEqual(itemsOf(html));
        expect(self.draft).toBe(null);
      }
      const items = itemsOf(html);
      expect(new Set(items).size).toBe(items.length);
      const stored = new Set(items.flatMap((item) => item.split(' ')));
      for (const word of world.written) {
        const by = world.deleted.get(word);
        if (!by) expect(stored).toContain(word);
        // The device that deleted the line may have edited it before.
        const isLeftAlone = by && [...(world.edited.get(word) ?? [])].every((editor) => by.has(editor));
        if (isLeftAlone) expect(stored).not.toContain(word);
      }
    }),
    { numRuns: fuzzBudget(200) },
  );
});
