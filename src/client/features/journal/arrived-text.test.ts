import { describe, expect, test } from 'vitest';
import { isolate } from '#domain/isolate.ts';
import { FIRST_LINE_KEY, SHARED_TEXTS_PREFIX } from '#client/lib/session/storage-keys.ts';
import type { Toast } from '#client/ui/toast.tsx';
import { addArrivedText, offerSharedText } from './arrived-text.ts';

class MemoryStorage implements Pick<Storage, 'getItem' | 'setItem' | 'removeItem'> {
  readonly values = new Map<string, string>();
  getItem = (key: string): string | null => this.values.get(key) ?? null;
  setItem = (key: string, value: string): void => void this.values.set(key, value);
  removeItem = (key: string): void => void this.values.delete(key);
}

const item = (text: string): string => `<li><p>${text}</p></li>`;
const OWN = `${SHARED_TEXTS_PREFIX}ada`;

function openDay(html: string, { canDraft = true } = {}) {
  const storage = new MemoryStorage();
  const day = { html };
  const today = {
    rewrite: (compute: (text: string) => string | null) => void (day.html = compute(day.html) ?? day.html),
    storeDraft: () => canDraft,
  };
  const add = (isFirstLog = false) => addArrivedText(storage as unknown as Storage, 'ada', today, isFirstLog);
  /** Returns the question to the user, if there is one. */
  const offer = (): Toast | undefined => {
    const asked: Toast[] = [];
    offerSharedText(storage as unknown as Storage, 'ada', today, (question) => void asked.push(question));
    expect(asked.length).toBeLessThan(2);
    return asked[0];
  };
  return { storage, day, add, offer };
}

describe('shared text', () => {
  test('of this user, or shared while signed out, joins the log once', () => {
    const { storage, day, add } = openDay(`<ol>${item('a')}</ol>`);
    storage.setItem(SHARED_TEXTS_PREFIX, '["before"]');
    storage.setItem(OWN, '["one","two"]');
    expect(add()).toBe(3);
    expect(day.html).toBe(`<ol>${['a', 'before', 'one', 'two'].map(item).join('')}</ol>`);
    expect(add()).toBe(0);
    expect(storage.values.size).toBe(0);
  });

  test('that is in the log already is not added again', () => {
    const html = `<ol>${item('new')}${item('b')}</ol>`;
    const { storage, day, add } = openDay(html);
    storage.setItem(OWN, '["new"]');
    add();
    expect(day.html).toBe(html);
  });

  test('stays in the storage until a draft holds it, and is added once', () => {
    const { storage, day, add } = openDay('', { canDraft: false });
    storage.setItem(OWN, '["one"]');
    expect(add()).toBe(0);
    expect(storage.getItem(OWN)).toBe('["one"]');
    add();
    expect(day.html).toBe(`<ol>${item('one')}</ol>`);
  });

  test('of another user stays where it is', () => {
    const { storage, day, add } = openDay('');
    storage.setItem(`${SHARED_TEXTS_PREFIX}bob`, '["secret"]');
    expect(add()).toBe(0);
    expect([day.html, storage.values.size]).toEqual(['', 1]);
  });

  test('that cannot be read is ignored', () => {
    const { storage, add } = openDay('');
    for (const json of ['{', '7', '[1]', 'null']) {
      storage.setItem(OWN, json);
      expect(add()).toBe(0);
    }
  });
});

describe('text that a site may have sent', () => {
  test('joins the log only if the user accepts it, and is asked about once', () => {
    const { storage, day, offer } = openDay(`<ol>${item('a')}</ol>`);
    storage.setItem(OWN, '["one","two <b>"]');
    storage.setItem(SHARED_TEXTS_PREFIX, '["before"]');
    const question = offer();
    expect(question?.text).toContain(`“${isolate('before one two <b>')}”`);
    expect([day.html, storage.values.size, offer()]).toEqual([`<ol>${item('a')}</ol>`, 0, undefined]);
    question?.action?.run();
    expect(day.html).toBe(`<ol>${['a', 'before', 'one', 'two &lt;b&gt;'].map(item).join('')}</ol>`);
  });

  test('is quoted with its first words', () => {
    const { storage, offer } = openDay('');
    storage.setItem(OWN, JSON.stringify([`one\n${'long '.repeat(1_000)}`]));
    expect(offer()?.text.length).toBeLessThan(200);
  });

  test('of another user, or none, is not asked about', () => {
    const { storage, offer } = openDay('');
    storage.setItem(`${SHARED_TEXTS_PREFIX}bob`, '["secret"]');
    expect([offer(), storage.values.size]).toEqual([undefined, 1]);
  });
});

test('invisible characters do not join the log', () => {
  const { storage, day, add, offer } = openDay('');
  // "Hi" in tag characters.
  const hidden = '\u{e0048}\u{e0069}';
  storage.setItem(OWN, JSON.stringify([hidden, `a${hidden}b`, '\u202egnp.exe']));
  expect(add()).toBe(2);
  expect(day.html).toBe(`<ol>${item('ab')}${item('gnp.exe')}</ol>`);
  storage.setItem(OWN, JSON.stringify([hidden]));
  expect(offer()).toBeUndefined();
});

describe('the line typed on the landing page', () => {
  test('starts the first log', () => {
    const { storage, day, add } = openDay('');
    storage.setItem(FIRST_LINE_KEY, '  called \n Miller ');
    add(true);
    expect(day.html).toBe(`<ol>${item('called Miller')}</ol>`);
    expect(storage.values.size).toBe(0);
  });

  test('does not join a journal that has logs', () => {
    const { storage, day, add } = openDay('');
    storage.setItem(FIRST_LINE_KEY, 'called Miller');
    add(false);
    expect([day.html, storage.values.size]).toEqual(['', 1]);
  });
});
