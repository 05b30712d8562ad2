/**
 * Opens the journal on today's log before React starts, from the local copy or the server's answer: first the text,
 * which cannot be edited, then an editor in its place. The early page stands in for `#root` until React's journal takes
 * over the editor (features/journal/early), or something else that React shows dismisses it.
 */
import { dateLabel, dayLabel, weekdayOf, type Day } from '#domain/day/day.ts';
import { parseInert, renderStored, type StoredAttributes } from '../html-to-log/inert-html.ts';
import type { CopiedLog } from './today-copy.ts';

export type EarlyPage = {
  userId: string;
  date: Day;
  /** Null until the log is known. Stays null if it cannot be read, and if the journal may open on another day. */
  log: EarlyLog | null;
  /** The inert text, until an editor replaces it. */
  text: HTMLElement;
  /** Null until the editor runs, and if it cannot show all of the text. */
  editor: { close: () => void } | null;
  /** Shows `#root` instead, to which `moveEditor` moves the editor. */
  leave: (moveEditor?: () => void) => void;
  /** Shows `#root` instead. Text typed on the early page stays a draft. */
  dismiss: () => void;
};

/** On a slow connection the editor's code may take longer. React then starts and shows "Loading editor...". */
const MAX_WAIT_MS = 5_000;

/** Today's log, of this browser's copy or of the server's answer. `stored`: null if the day has no log. */
export type EarlyLog = { stored: CopiedLog | null };
type LoadEarlyEditor = () => Promise<{ startEarlyEditor: (page: EarlyPage) => void }>;

declare global {
  /** Set while the early page is shown. */
  var hustleForgeEarlyPage: EarlyPage | undefined;
  /** Set if there is an early page. Resolves when its editor takes keys, has failed or is late, and React may start. */
  var hustleForgeEarlyStart: Promise<void> | undefined;
}

/**
 * Opens only what the journal will open too: nothing if the URL names another day. The caller must know that no draft
 * has newer text. If today has a log, the journal opens on today with every plan (`initialDay`).
 */
export function openEarlyPage(
  load: LoadEarlyEditor,
  userId: string,
  today: Day,
  log: EarlyLog | Promise<EarlyLog | null>,
): Promise<void> | undefined {
  if ((new URLSearchParams(location.search).get('date') ?? today) !== today) return undefined;
  // Best effort: without the early page the journal opens like any other screen.
  const start = startWhenParsed(load(), userId, today, log).catch(() => globalThis.hustleForgeEarlyPage?.dismiss());
  globalThis.hustleForgeEarlyStart = Promise.race([start, new Promise<void>((end) => setTimeout(end, MAX_WAIT_MS))]);
  return globalThis.hustleForgeEarlyStart;
}

async function startWhenParsed(
  loading: ReturnType<LoadEarlyEditor>,
  userId: string,
  date: Day,
  log: EarlyLog | Promise<EarlyLog | null>,
): Promise<void> {
  // Attach a handler now, or a failure becomes an unhandled rejection before the page is parsed.
  loading.catch(() => {});
  // Waits until the page is parsed. DOMContentLoaded would come later, after the scripts of the page.
  await eventOf(document, 'readystatechange');
  const page = showPage(userId, date);
  page.log = await log;
  if (!page.log) return;
  showLog(page, page.log);
  const { startEarlyEditor } = await loading;
  await untilStyled();
  // Skip if React has stopped waiting and shows the journal: this would be a second editor, in a removed page.
  if (globalThis.hustleForgeEarlyPage === page) startEarlyEditor(page);
}

function showPage(userId: string, date: Day): EarlyPage {
  const root = document.getElementById('root')!;
  const { frame, text } = createFrame(date);
  const takeOverButton = rememberClick(frame);
  const leave: EarlyPage['leave'] = (moveEditor) => {
    globalThis.hustleForgeEarlyPage = undefined;
    const focused = document.activeElement;
    // Hide the frame before `#root` is shown: with both visible, the page would scroll.
    frame.style.display = 'none';
    root.style.display = '';
    if (moveEditor) {
      moveEditor();
      takeOverButton(root, focused);
    }
    frame.remove();
  };
  const page: EarlyPage = {
    ...{ userId, date, log: null, text, editor: null, leave },
    dismiss() {
      page.editor?.close();
      leave();
    },
  };
  root.style.display = 'none';
  root.before(frame);
  globalThis.hustleForgeEarlyPage = page;
  return page;
}

function showLog({ text }: EarlyPage, { stored }: EarlyLog): void {
  const nodes = parseInert(stored?.html ?? '').childNodes;
  text.append(...renderStored<Node>(nodes, { text: copyText, element: createNode }));
  text.nextElementSibling?.remove();
  labelOf(text.closest('body > *')!).style.visibility = '';
}

const labelOf = (frame: Element): HTMLElement => frame.querySelector('h1 button')!;

/**
 * Fills the template `#journal-frame`, which the build renders from journal-frame.tsx. The label of the day is hidden,
 * because the journal may open on another day.
 */
function createFrame(date: Day): { frame: HTMLElement; text: HTMLElement } {
  const template = document.getElementById('journal-frame') as HTMLTemplateElement;
  const frame = document.importNode(template.content, true).firstElementChild as HTMLElement;
  const label = labelOf(frame);
  label.style.visibility = 'hidden';
  label.firstChild!.textContent = weekdayOf(date);
  label.lastChild!.textContent = dateLabel(date);
  const text = frame.querySelector<HTMLElement>('[role=group]')!;
  text.setAttribute('aria-label', `Log for ${dayLabel(date)}`);
  return { frame, text };
}

/**
 * Remembers the last click on a button of the early page's bar. The returned function repeats the click, or restores
 * the focus, on the button that React has rendered at the same place.
 */
function rememberClick(frame: HTMLElement): (root: HTMLElement, focused: Element | null) => void {
  const buttonsOf = (page: HTMLElement) => [...page.querySelectorAll<HTMLElement>('header button')];
  let clicked = -1;
  frame.addEventListener('click', ({ target }) => {
    const at = buttonsOf(frame).findIndex((button) => button.contains(target as Node));
    if (at !== -1) clicked = at;
  });
  return (root, focused) => {
    const buttons = buttonsOf(root);
    buttons[clicked === -1 ? buttonsOf(frame).indexOf(focused as HTMLElement) : clicked]?.focus();
    buttons[clicked]?.click();
  };
}

const copyText = (node: Text): Node => document.createTextNode(node.data);

function createNode(tag: string, attributes: StoredAttributes, children: Node[]): Node {
  const element = Object.assign(document.createElement(tag), attributes);
  element.append(...children);
  return element;
}

/** Resolves once the style sheets have loaded or failed: the editor scrolls to the caret, which needs the layout. */
const untilStyled = (): Promise<unknown> =>
  Promise.all(
    [...document.querySelectorAll<HTMLLinkElement>('link[rel=stylesheet]')]
      .filter(({ sheet }) => sheet === null)
      .map((link) => Promise.race([eventOf(link, 'load'), eventOf(link, 'error')])),
  );

const eventOf = (target: EventTarget, type: string): Promise<unknown> =>
  new Promise((resolve) => target.addEventListener(type, resolve, { once: true }));
