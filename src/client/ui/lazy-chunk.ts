/**
 * A part of a page whose code is fetched apart. It is opened only once it is there: without a connection, or while a new
 * release takes the files of this one away, the page stays under whoever writes on it.
 */
import { createElement, useCallback } from 'react';
import type { ComponentType, FunctionComponent } from 'react';
import { flushSync } from 'react-dom';
import { useToast } from '#client/ui/toast.tsx';

type Load = () => Promise<void>;
type Loadable = { isThere: () => boolean; load: Load };
export type Part<Props> = Loadable & { View: FunctionComponent<Props> };

/** Long after everything that the page itself needs. */
const FETCH_AFTER_MS = 4_000;
const REACH_LIMIT_MS = 3_000;

/** Why a screen is not there: its code did not come. */
export class MissingPart extends Error {}

const loads: Load[] = [];
const lostStyles = new Set<HTMLLinkElement>();
// Such events do not rise, but they come down.
addEventListener(
  'error',
  ({ target }) => void (target instanceof HTMLLinkElement && target.rel === 'stylesheet' && lostStyles.add(target)),
  true,
);

/** `View` shows nothing before `load` has brought it. */
export function part<Props extends object>(fetchView: () => Promise<ComponentType<Props>>): Part<Props> {
  let arrived: ComponentType<Props> | null = null;
  const load = async (): Promise<void> => {
    try {
      await fetchLostStyles();
      arrived = await fetchView();
    } catch (cause) {
      throw new MissingPart('a part did not come', { cause });
    }
  };
  loads.push(load);
  return { isThere: () => arrived !== null, load, View: (props) => arrived && createElement(arrived, props) };
}

/**
 * Answers a function that opens a part, or says that it did not come.
 *
 * What is typed while it is on its way is meant for it: better lost than written into a log. Whoever did not ask for the
 * part (`asked` false) goes on writing.
 */
export function useOpenPart(): (wanted: Loadable, open: () => void, asked?: boolean) => void {
  const fetchPart = useFetchPart();
  return useCallback(
    (wanted, open, asked) => {
      // At once: the next key may be meant for it already.
      if (wanted.isThere()) return open();
      // In one task with the focus that is given back: a key in between would go to the log.
      void fetchPart(wanted.load, asked).then((came) => came && flushSync(open));
    },
    [fetchPart],
  );
}

/**
 * Answers a function that fetches a part and tells whether it came; that it did not is said already.
 *
 * `whenGone` is done instead of saying so when the server is there and the file is not: only a page of the new release
 * knows its name.
 */
export function useFetchPart(): (load: Load, asked?: boolean, whenGone?: () => void) => Promise<boolean> {
  const toast = useToast();
  return useCallback(
    async (load, asked = true, whenGone) => {
      const giveBack = asked ? holdKeys() : () => undefined;
      const came = await comes(load);
      giveBack();
      if (!came) void sayMissing(toast, whenGone);
      return came;
    },
    [toast],
  );
}

export const comes = (load: Load): Promise<boolean> =>
  load().then(
    () => true,
    () => false,
  );

async function sayMissing(toast: ReturnType<typeof useToast>, whenGone?: () => void): Promise<void> {
  const gone = await isServerThere();
  if (gone && whenGone) return whenGone();
  const text = 'This part could not be loaded. Check your connection and try again.';
  const reload = { label: 'Load the page again', run: () => location.reload() };
  toast({ kind: 'error', text, ...(gone && { action: reload }) });
}

/** Takes the keys from whatever has them. Answers how to give them back, unless the user has gone elsewhere meanwhile. */
function holdKeys(): () => void {
  const { activeElement: held } = document;
  if (!(held instanceof HTMLElement) || held === document.body) return () => undefined;
  held.blur();
  return () => {
    if (document.activeElement === document.body) held.focus({ preventScroll: true });
  };
}

/** So that whatever is opened later needs no connection for its code. Answers how to stop waiting. */
export function fetchPartsWhenIdle(wanted: readonly Load[] = loads): () => void {
  const fetchAll = (): void => wanted.forEach((load) => void comes(load));
  // Safari tells of no idle time.
  const timer = setTimeout(
    () => ('requestIdleCallback' in window ? requestIdleCallback(fetchAll) : fetchAll()),
    FETCH_AFTER_MS,
  );
  return () => clearTimeout(timer);
}

export function isServerThere(): Promise<boolean> {
  const signal = AbortSignal.timeout(REACH_LIMIT_MS);
  return fetch(location.pathname, { method: 'HEAD', cache: 'no-store', signal }).then(
    ({ ok }) => ok,
    () => false,
  );
}

/** The loader of a part asks for each of its style sheets once, whether it came or not. */
async function fetchLostStyles(): Promise<void> {
  const links = [...lostStyles];
  lostStyles.clear();
  await Promise.all(
    links.map(
      (link) =>
        new Promise((came, failed) => {
          const again = link.cloneNode() as HTMLLinkElement;
          again.addEventListener('load', came);
          again.addEventListener('error', failed);
          link.replaceWith(again);
        }),
    ),
  );
}
