/** Drafts in the outbox and in localStorage. */
import { describe, expect, test } from 'vitest';
import { addDays, type Day } from '#domain/day/day.ts';
import { mergeLogs } from '#domain/merge/merge-logs.ts';
import { DATE, DRAFT, setUpBrowser, settle } from '../../../tests/support/user-databases.ts';
import type { MergeModule } from './merge-loader.ts';

const KEY = `hustle-forge:draft:ada:${DATE}`;
const concat: MergeModule['mergeLogs'] = (_base, mine, theirs) => ({ ...mergeLogs('', '', ''), html: mine + theirs });

const browser = setUpBrowser();

describe('a draft', () => {
  test('is in localStorage at once, and later only in the database, with a marker', async () => {
    const page = browser.openPage('one');
    expect(page.drafts.store(DATE, DRAFT)).toBe(true);
    expect(JSON.parse(browser.storage.getItem(`${KEY}:one`)!)).toEqual(DRAFT);
    await settle(page);
    expect(browser.storage.getItem(`${KEY}:one`)).toBe('');
    expect(await page.outbox.readAll()).toEqual([{ date: DATE, writer: 'one', draft: DRAFT }]);
  });

  test('is claimed by the next page with its base, row and sent texts', async () => {
    const page = browser.openPage('one');
    void page.drafts.store(DATE, DRAFT);
    await settle(page);
    const next = browser.openPage('two');
    await next.drafts.load();
    expect(next.drafts.abandonedDays()).toEqual([DATE]);
    expect(next.drafts.claim(DATE, concat)).toEqual(DRAFT);
    await settle(next);
    expect(await next.outbox.readAll()).toEqual([{ date: DATE, writer: 'two', draft: DRAFT }]);
    next.drafts.drop(DATE);
    expect(await next.outbox.readAll()).toEqual([]);
    expect(browser.storage.length).toBe(0);
  });

  test.each([
    { name: 'in localStorage', at: 6, newest: 'newer' },
    // A draft that another one was merged into keeps its time, and reaches localStorage first.
    { name: 'in localStorage, with the same time', at: 5, newest: 'newer' },
    { name: 'in the database', at: 4, newest: '<p>a</p>' },
  ])('is the newer of both places: $name', async ({ at, newest }) => {
    const page = browser.openPage('one');
    void page.drafts.store(DATE, DRAFT);
    await settle(page);
    browser.storage.setItem(`${KEY}:one`, JSON.stringify({ ...DRAFT, html: 'newer', at }));
    const next = browser.openPage('two');
    await next.drafts.load();
    expect(next.drafts.claim(DATE, concat)?.html).toBe(newest);
  });

  test('that replaces another while it is written keeps the newer text in localStorage until that is written too', async () => {
    const page = browser.openPage('one');
    void page.drafts.store(DATE, DRAFT);
    void page.drafts.store(DATE, { ...DRAFT, html: 'newer', at: 6 });
    await page.outbox.readAll();
    await settle(page);
    expect(browser.storage.getItem(`${KEY}:one`)).toBe('');
    expect((await page.outbox.readAll())[0]?.draft.html).toBe('newer');
  });

  test('that is dropped while it is written leaves nothing', async () => {
    const page = browser.openPage('one');
    void page.drafts.store(DATE, DRAFT);
    page.drafts.drop(DATE);
    await settle(page);
    expect(await page.outbox.readAll()).toEqual([]);
    expect(browser.storage.length).toBe(0);
    expect(page.drafts.days()).toEqual([]);
  });

  test('of an open page stays with that page, except at a sign-out', async () => {
    const page = browser.openPage('one');
    void page.drafts.store(DATE, DRAFT);
    await settle(page);
    browser.alive = new Set(['one']);
    const other = browser.openPage('two');
    await other.drafts.load();
    expect(other.drafts.abandonedDays()).toEqual([]);
    expect(other.drafts.days()).toEqual([DATE]);
    expect(other.drafts.claim(DATE, concat)).toBe(null);
    expect(other.drafts.claim(DATE, concat, true)).toEqual(DRAFT);
  });

  test('of a closed page is merged into the own one, and only the merged one stays', async () => {
    const [one, two] = [browser.openPage('one'), browser.openPage('two')];
    void one.drafts.store(DATE, { ...DRAFT, html: 'old', at: 1, sent: ['x'] });
    await settle(one);
    void two.drafts.store(DATE, DRAFT);
    await two.drafts.load();
    expect(two.drafts.claim(DATE, concat)).toMatchObject({ html: '<p>a</p>old', sent: ['x', '<p>c</p>'] });
    await settle(two);
    expect((await two.outbox.readAll()).map(({ writer }) => writer)).toEqual(['two']);
    expect([...Array(browser.storage.length).keys()].map((index) => browser.storage.key(index))).toEqual([
      `${KEY}:two`,
    ]);
  });

  test('of forty days, too large for localStorage, are all found by the next page', async () => {
    browser.storage.maxValueLength = 10;
    const page = browser.openPage('one');
    const days = Array.from({ length: 40 }, (_, index): Day => addDays(DATE, -index));
    const results = days.map(async (date) => page.drafts.store(date, { ...DRAFT, html: date }));
    expect(await Promise.all(results)).toEqual(days.map(() => true));
    const next = browser.openPage('two');
    await next.drafts.load();
    expect(next.drafts.abandonedDays()).toEqual(days.toSorted());
    for (const date of days) expect(next.drafts.claim(date, concat)?.html).toBe(date);
  });

  test('that neither place takes is reported', async () => {
    browser.storage.maxValueLength = 0;
    const page = browser.openPage('one');
    page.outbox.close();
    expect(await page.drafts.store(DATE, DRAFT)).toBe(false);
  });

  test('that localStorage takes is safe without a database', async () => {
    const page = browser.openPage('one');
    page.outbox.close();
    expect(page.drafts.store(DATE, DRAFT)).toBe(true);
    await new Promise((resolve) => setImmediate(resolve));
    expect(JSON.parse(browser.storage.getItem(`${KEY}:one`)!)).toEqual(DRAFT);
  });

  test('of an open page stays with that page in a browser without a database, until it is closed', async () => {
    void browser.openPage('one').drafts.store(DATE, DRAFT);
    browser.alive = new Set(['one']);
    const other = browser.openPage('two');
    other.outbox.close();
    await other.drafts.load();
    expect(other.drafts.claim(DATE, concat)).toBe(null);
    other.drafts.noteWriter(`${KEY}:one`);
    browser.alive = new Set();
    await other.drafts.load();
    expect(other.drafts.claim(DATE, concat)).toEqual(DRAFT);
  });

  test('that is not read in time stays when the page takes over another one, and the next page claims it', async () => {
    const slow = browser.openPage('one');
    void slow.drafts.store(DATE, { ...DRAFT, html: 'of the closed page', at: 1 });
    await settle(slow);
    const page = browser.openPage('two');
    // `load` of the page has not resolved yet, or has reached its limit.
    void page.drafts.store(DATE, DRAFT);
    expect(page.drafts.claim(DATE, concat)?.html).toBe('<p>a</p>');
    await settle(page);
    const next = browser.openPage('three');
    await next.drafts.load();
    expect(next.drafts.claim(DATE, concat)?.html).toBe('<p>a</p>of the closed page');
  });

  test('of the own page is never replaced by the older one that the database still has', async () => {
    const page = browser.openPage('one');
    void page.drafts.store(DATE, DRAFT);
    await settle(page);
    const loading = page.drafts.load();
    browser.storage.maxValueLength = 0;
    void page.drafts.store(DATE, { ...DRAFT, html: 'newer', at: 6 });
    await loading;
    expect(page.drafts.claim(DATE, concat)?.html).toBe('newer');
  });

  test('that was written after the clock was set back is the newer one', async () => {
    const page = browser.openPage('one');
    void page.drafts.store(DATE, DRAFT);
    await settle(page);
    void page.drafts.store(DATE, { ...DRAFT, html: 'after it', at: DRAFT.at - 1 });
    const inStorage = browser.storage.getItem(`${KEY}:one`)!;
    await settle(page);
    // The page ends before its last draft is in the database, as a page that is being closed does.
    await page.outbox.put({ date: DATE, writer: 'one', draft: DRAFT });
    browser.storage.setItem(`${KEY}:one`, inStorage);
    const next = browser.openPage('two');
    await next.drafts.load();
    expect(next.drafts.claim(DATE, concat)?.html).toBe('after it');
  });

  test('that only the database took after the clock was set back is newer than the one that only localStorage took', async () => {
    const { drafts, outbox } = browser.openPage('one');
    const { put } = outbox;
    outbox.put = () => Promise.reject(new Error('full'));
    void drafts.store(DATE, DRAFT);
    outbox.put = put;
    browser.storage.maxValueLength = 0;
    expect(await drafts.store(DATE, { ...DRAFT, html: 'after it', at: DRAFT.at - 1 })).toBe(true);
    const next = browser.openPage('two');
    await next.drafts.load();
    expect(next.drafts.claim(DATE, concat)?.html).toBe('after it');
  });
});
