/**
 * Components loaded as separate chunks. A chunk opens only once its code has loaded: without a connection, or while a
 * release replaces the files of this page, the user stays on the page they are writing on.
 */
import { createElement, use, useCallback, type ComponentType, type FunctionComponent } from 'react';
import { flushSync } from 'react-dom';
import { useToast } from '#client/ui/toast.tsx';

type Load = () => Promise<void>;
type Loadable = { isLoaded: () => boolean; load: Load };
export type LazyChunk<Props> = Loadable & {
  /** Renders nothing until `load` has resolved. */
  View: FunctionComponent<Props>;
  /** For use within `Suspense`: loads the chunk, and on a failure shows the fallback of the chunk or throws. */
  LoadingView: FunctionComponent<Props>;
};

/** By then the page has loaded everything that it needs itself, so a preload does not compete with it. */
const PRELOAD_DELAY_MS = 4_000;
const REACHABILITY_TIMEOUT_MS = 3_000;

const loads: Load[] = [];
const failedStylesheets = new Set<HTMLLinkElement>();
// These events don't bubble, so listen in the capture phase.
addEventListener(
  'error',
  ({ target }) =>
    void (target instanceof HTMLLinkElement && target.rel === 'stylesheet' && failedStylesheets.add(target)),
  true,
);

/** `load` rejects if a file of the chunk could not be loaded. */
export function lazyChunk<Props extends object>(
  importView: () => Promise<ComponentType<Props>>,
  Fallback?: ComponentType<Props>,
): LazyChunk<Props> {
  let view: ComponentType<Props> | null = null;
  let loadToShow: Promise<void> | undefined;
  const load = async (): Promise<void> => {
    await reloadFailedStylesheets();
    view = await importView();
  };
  const View = (props: Props) => view && createElement(view, props);
  const LoadingView = (props: Props) => {
    // One promise for all renders: a new one would suspend each render again.
    if (!view) use((loadToShow ??= Fallback ? load().catch(() => undefined) : load()));
    return createElement((view ?? Fallback)!, props);
  };
  loads.push(load);
  return { isLoaded: () => view !== null, load, View, LoadingView };
}

/**
 * Returns a function that loads a chunk and then calls `open`, or shows an error toast.
 *
 * Keys that the user types while a chunk loads are meant for it, so they are dropped instead of going into the log.
 * With `byUser` false, the page opens the chunk by itself and the user keeps typing.
 */
export function useOpenChunk(): (chunk: Loadable, open: () => void, byUser?: boolean) => void {
  const loadChunk = useLoadChunk();
  return useCallback(
    (chunk, open, byUser) => {
      // Synchronously: the next key may already be meant for the chunk.
      if (chunk.isLoaded()) return open();
      // `flushSync` opens the chunk in the task that restores the focus: a key typed in between would go into the log.
      void loadChunk(chunk.load, byUser).then((isLoaded) => isLoaded && flushSync(open));
    },
    [loadChunk],
  );
}

/**
 * Returns a function that loads a chunk and resolves with whether the chunk has loaded. A toast reports a failure.
 *
 * `onGone` replaces the error toast when the server is reachable but the file is gone: only a page of the new release
 * knows the new name of the file.
 */
export function useLoadChunk(): (load: Load, byUser?: boolean, onGone?: () => void) => Promise<boolean> {
  const toast = useToast();
  return useCallback(
    async (load, byUser = true, onGone) => {
      const restoreFocus = byUser ? blurActiveElement() : () => undefined;
      const isLoaded = await tryLoad(load);
      restoreFocus();
      if (!isLoaded) void showLoadError(toast, onGone);
      return isLoaded;
    },
    [toast],
  );
}

export const tryLoad = (load: Load): Promise<boolean> =>
  load().then(
    () => true,
    () => false,
  );

async function showLoadError(toast: ReturnType<typeof useToast>, onGone?: () => void): Promise<void> {
  const isGone = await isServerReachable();
  if (isGone && onGone) return onGone();
  const text = "Couldn't load this. Check your connection and try again.";
  const reload = { label: 'Reload the page', run: () => location.reload() };
  toast({ kind: 'error', text, ...(isGone && { action: reload }) });
}

/** Returns a function that restores the focus, unless the user has moved it in the meantime. */
function blurActiveElement(): () => void {
  const { activeElement } = document;
  if (!(activeElement instanceof HTMLElement) || activeElement === document.body) return () => undefined;
  activeElement.blur();
  return () => {
    if (document.activeElement === document.body) activeElement.focus({ preventScroll: true });
  };
}

/**
 * Preloads chunks, so opening one later needs no connection, then runs `after`. Returns a function that stops further
 * preloads.
 *
 * One chunk at a time: over HTTP/1.1 a browser opens six connections to a server, and on a slow network a save would
 * time out behind the files of all chunks.
 */
export function preloadChunksWhenIdle(wanted: readonly Load[] = loads, ...after: Load[]): () => void {
  let isStopped = false;
  const loadInTurn = async (): Promise<void> => {
    // A copy, because a loaded chunk may register further ones.
    for (const load of [...wanted, ...after]) if (!isStopped) await tryLoad(load);
  };
  const preload = (): void => void loadInTurn();
  // Safari has no requestIdleCallback.
  const timer = setTimeout(
    () => ('requestIdleCallback' in window ? requestIdleCallback(preload) : preload()),
    PRELOAD_DELAY_MS,
  );
  // The preload may have failed without a connection. The browser does not request a loaded chunk again.
  addEventListener('online', preload);
  return () => {
    isStopped = true;
    clearTimeout(timer);
    removeEventListener('online', preload);
  };
}

export function isServerReachable(): Promise<boolean> {
  const signal = AbortSignal.timeout(REACHABILITY_TIMEOUT_MS);
  return fetch(location.pathname, { method: 'HEAD', cache: 'no-store', signal }).then(
    ({ ok }) => ok,
    () => false,
  );
}

/** Requests failed stylesheets again: Vite requests each stylesheet of a chunk only once, even after a failure. */
async function reloadFailedStylesheets(): Promise<void> {
  const links = [...failedStylesheets];
  failedStylesheets.clear();
  await Promise.all(
    links.map(
      (link) =>
        new Promise((resolve, reject) => {
          const retry = link.cloneNode() as HTMLLinkElement;
          retry.addEventListener('load', resolve);
          retry.addEventListener('error', reject);
          link.replaceWith(retry);
        }),
    ),
  );
}
