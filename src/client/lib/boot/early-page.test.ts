// @vitest-environment happy-dom
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { dayLabel, dayOf } from '#domain/day/day.ts';
import { openEarlyPage, type EarlyLog, type EarlyPage } from './early-page.ts';

const TODAY = dayOf(new Date());
const logOf = (html: string): EarlyLog => ({ stored: { id: 'row', html, revision: 1, savedAt: 1 } });
const WORDS = logOf('<p>words</p>');
const close = vi.fn<() => void>();
/** Replaces early-editor.ts: sets `editor`, which marks the page as editable. */
const loadEditor = async () => ({ startEarlyEditor: (page: EarlyPage) => void (page.editor = { close }) });

beforeEach(() => {
  localStorage.clear();
  history.replaceState(null, '', '/journal');
  document.body.innerHTML = `<div id="root"></div><template id="journal-frame"><div class="frame"><header><button></button><h1>
    <button>Day<i> - </i><span>date</span></button></h1></header><div role="group"></div><div class="loading"></div></div></template>`;
});
afterEach(() => {
  globalThis.hustleForgeEarlyPage?.dismiss();
  globalThis.hustleForgeEarlyStart = undefined;
  vi.clearAllMocks();
});

/** Resolves after the document is parsed, before the editor has loaded. */
async function begin(log: EarlyLog | Promise<EarlyLog | null> = WORDS, load = loadEditor): Promise<void> {
  void openEarlyPage(load, 'ada', TODAY, log);
  document.dispatchEvent(new Event('readystatechange'));
  await Promise.resolve();
  await Promise.resolve();
}
async function open(log: EarlyLog | Promise<EarlyLog | null> = WORDS, load = loadEditor): Promise<void> {
  await begin(log, load);
  await globalThis.hustleForgeEarlyStart;
}
const label = (): HTMLElement | null | undefined => frame()?.querySelector('h1 button');
const frame = (): HTMLElement | null => document.querySelector('.frame');
const isRootShown = (): boolean => document.getElementById('root')!.style.display !== 'none';

describe('the early page shows the text of today', () => {
  test('in the place of the root, before the editor has loaded', async () => {
    await begin();
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
    await open(logOf(html));
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

  test('if the editor does not load', async () => {
    await open(WORDS, () => Promise.reject(new Error('gone')));
    expect(frame()).toBeNull();
    expect(isRootShown()).toBe(true);
  });
});

describe('until the server has answered, the early page', () => {
  const loading = (): Element | null => document.querySelector('.loading');

  test('names no day, and shows that its text is loading', async () => {
    const { promise, resolve } = Promise.withResolvers<EarlyLog | null>();
    await begin(promise);
    expect([label()?.style.visibility, loading() === null, isRootShown()]).toEqual(['hidden', false, false]);
    resolve(WORDS);
    await globalThis.hustleForgeEarlyStart;
    expect([label()?.style.visibility, loading()]).toEqual(['', null]);
    expect(frame()?.querySelector('[role=group]')?.innerHTML).toBe('<p>words</p>');
    expect(globalThis.hustleForgeEarlyPage?.editor).not.toBeNull();
  });

  test('opens no editor, nor after an answer that leaves the day open', async () => {
    await open(Promise.resolve(null));
    expect([label()?.style.visibility, loading() === null]).toEqual(['hidden', false]);
    expect(globalThis.hustleForgeEarlyPage?.editor).toBeNull();
  });

  test('lets React start after five seconds', async () => {
    vi.useFakeTimers();
    try {
      await begin(new Promise(() => {}));
      const started = vi.fn<() => void>();
      void globalThis.hustleForgeEarlyStart!.then(started);
      await vi.advanceTimersByTimeAsync(4_999);
      expect(started).not.toHaveBeenCalled();
      await vi.advanceTimersByTimeAsync(1);
      expect(started).toHaveBeenCalledOnce();
    } finally {
      vi.useRealTimers();
    }
  });
});

test('opens an editor on a day without a log', async () => {
  await open({ stored: null });
  expect(globalThis.hustleForgeEarlyPage?.editor).not.toBeNull();
});

test('opens no editor on a page that React has replaced meanwhile', async () => {
  await begin();
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
