// @vitest-environment happy-dom
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { dayLabel, dayOf } from '#domain/day/day.ts';
import { openEarlyPage, type EarlyPage } from './early-page.ts';
import { storeTodayCopy } from './today-copy.ts';

const TODAY = dayOf(new Date());
const close = vi.fn<() => void>();
/** Replaces early-editor.ts: sets `editor`, which marks the page as editable. */
const loadEditor = async () => ({ startEarlyEditor: (page: EarlyPage) => void (page.editor = { close }) });

beforeEach(() => {
  localStorage.clear();
  history.replaceState(null, '', '/journal');
  document.body.innerHTML = `<div id="root"></div><template id="journal-frame"><div class="frame"><header><button></button><h1>
    <button>Day<i> - </i><span>date</span></button></h1></header><div role="group"></div></div></template>`;
  storeTodayCopy(localStorage, 'ada', TODAY, TODAY, { id: 'row', html: '<p>words</p>', revision: 1, savedAt: 1 });
});
afterEach(() => {
  globalThis.hustleForgeEarlyPage?.dismiss();
  globalThis.hustleForgeEarlyStart = undefined;
  vi.clearAllMocks();
});

async function open(userId = 'ada', load = loadEditor): Promise<void> {
  openEarlyPage(load, userId);
  document.dispatchEvent(new Event('readystatechange'));
  await globalThis.hustleForgeEarlyStart;
}
const frame = (): HTMLElement | null => document.querySelector('.frame');
const isRootShown = (): boolean => document.getElementById('root')!.style.display !== 'none';

describe('the early page shows the text of today', () => {
  test('in the place of the root, before the editor has loaded', async () => {
    openEarlyPage(loadEditor, 'ada');
    document.dispatchEvent(new Event('readystatechange'));
    await Promise.resolve();
    expect(frame()?.querySelector('[role=group]')?.innerHTML).toBe('<p>words</p>');
    expect(frame()?.querySelector('[role=group]')?.getAttribute('aria-label')).toBe(`Log for ${dayLabel(TODAY)}`);
    expect(frame()?.querySelector('h1')?.textContent.trim()).toBe(dayLabel(TODAY));
    expect(isRootShown()).toBe(false);
    expect(globalThis.hustleForgeEarlyPage?.editor).toBeNull();
    await globalThis.hustleForgeEarlyStart;
    expect(globalThis.hustleForgeEarlyPage?.editor).not.toBeNull();
  });

  test('also if the URL names today', async () => {
    history.replaceState(null, '', `/journal?date=${TODAY}`);
    await open();
    expect(frame()).not.toBeNull();
  });

  // Threat: a compromised server answers with scripts, and the page stores the answer as its copy of today.
  test('without scripts, handlers and unknown elements', async () => {
    const html = '<ol start="3"><li><p onclick="x()">a<img src="x" onerror="x()"><script>x()</script></p></li></ol>';
    storeTodayCopy(localStorage, 'ada', TODAY, TODAY, { id: 'row', html, revision: 1, savedAt: 1 });
    await open();
    expect(frame()?.querySelector('[role=group]')?.innerHTML).toMatch(
      /^<ol start="3"><li dir="auto"><p>a *<\/p><\/li><\/ol>$/,
    );
  });
});

describe('the early page shows nothing', () => {
  test.each(['?date=2001-01-01', '?date=yesterday', '?date='])('if the URL names another day: %s', async (search) => {
    history.replaceState(null, '', `/journal${search}`);
    await open();
    expect(frame()).toBeNull();
    expect(isRootShown()).toBe(true);
  });

  test('of another user', async () => {
    await open('ben');
    expect(frame()).toBeNull();
  });

  test('if the editor does not load', async () => {
    await open('ada', () => Promise.reject(new Error('gone')));
    expect(frame()).toBeNull();
    expect(isRootShown()).toBe(true);
  });
});

test('opens no editor on a page that React has replaced meanwhile', async () => {
  openEarlyPage(loadEditor, 'ada');
  document.dispatchEvent(new Event('readystatechange'));
  await Promise.resolve();
  const page = globalThis.hustleForgeEarlyPage!;
  page.dismiss();
  await globalThis.hustleForgeEarlyStart;
  expect(page.editor).toBeNull();
});

describe('the early page ends', () => {
  test('with a dismissal, which closes the editor', async () => {
    await open();
    globalThis.hustleForgeEarlyPage!.dismiss();
    expect(close).toHaveBeenCalledOnce();
    expect([frame(), isRootShown(), globalThis.hustleForgeEarlyPage]).toEqual([null, true, undefined]);
  });

  test('with a move of the editor into the shown root, which then gets a click on the bar', async () => {
    await open();
    let wasShown = false;
    const root = document.getElementById('root')!;
    root.innerHTML = '<header><button id="menu"></button><button id="day"></button></header>';
    const clicked: string[] = [];
    root.addEventListener('click', ({ target }) => clicked.push((target as Element).id));
    frame()!.querySelector('span')!.click();
    globalThis.hustleForgeEarlyPage!.leave(() => (wasShown = isRootShown() && frame() !== null));
    expect(wasShown).toBe(true);
    expect(clicked).toEqual(['day']);
    expect(close).not.toHaveBeenCalled();
    expect([frame(), globalThis.hustleForgeEarlyPage]).toEqual([null, undefined]);
  });

  test('with the focus on the same button of the shown root', async () => {
    await open();
    const root = document.getElementById('root')!;
    root.innerHTML = '<header><button id="menu"></button><button id="day"></button></header>';
    frame()!.querySelectorAll('button')[1]!.focus();
    globalThis.hustleForgeEarlyPage!.leave(() => undefined);
    expect(document.activeElement?.id).toBe('day');
  });
});
