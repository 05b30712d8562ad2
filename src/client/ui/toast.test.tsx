// @vitest-environment happy-dom
import { act, useEffect } from 'react';
import { createRoot } from 'react-dom/client';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { ToastProvider, useClearToastsOf, useToast, type Toast } from './toast.tsx';

function Page(): null {
  const toast = useToast();
  useEffect(() => {
    toast({ kind: 'error', text: 'lost', action: { label: 'Got it', run: () => {} } });
    for (const text of ['one', 'two', 'three', 'four']) toast({ kind: 'success', text });
  }, [toast]);
  return null;
}

function Host({ onReady }: { onReady: (show: (toast: Toast) => void) => void }): null {
  const toast = useToast();
  useEffect(() => onReady(toast), [onReady, toast]);
  return null;
}

function Session({ userId }: { userId: string | undefined }): null {
  useClearToastsOf(userId);
  return null;
}

const shownTexts = (): (string | null)[] => [...document.querySelectorAll('p')].map(({ textContent }) => textContent);

beforeEach(() => {
  vi.stubGlobal('IS_REACT_ACT_ENVIRONMENT', true);
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

test('an error with a button stays when other toasts follow, of which three are shown', async () => {
  const root = createRoot(document.createElement('div'));
  const page = (
    <ToastProvider>
      <Page />
    </ToastProvider>
  );
  await act(async () => root.render(page));
  await act(() => vi.advanceTimersByTimeAsync(1_000));
  expect(shownTexts()).toEqual(['two', 'three', 'four', 'lost']);
  await act(async () => root.unmount());
});

test('a toast replaces the earlier one of its topic at once, so that nobody presses a stale button', async () => {
  const root = createRoot(document.createElement('div'));
  const { promise, resolve } = Promise.withResolvers<(toast: Toast) => void>();
  await act(async () =>
    root.render(
      <ToastProvider>
        <Host onReady={resolve} />
      </ToastProvider>,
    ),
  );
  const show = await promise;
  const showLater = (toast: Toast) =>
    act(async () => {
      show(toast);
      await vi.advanceTimersByTimeAsync(1_000);
    });
  await showLater({ kind: 'info', text: 'deleted', topic: '2026-11-27' });
  await showLater({ kind: 'info', text: 'another day', topic: '2026-11-26' });
  await showLater({ kind: 'info', text: 'no topic' });
  await act(async () => show({ kind: 'info', text: 'back', topic: '2026-11-27' }));
  expect(shownTexts()).toEqual(['another day', 'no topic']);
  await act(() => vi.advanceTimersByTimeAsync(1_000));
  expect(shownTexts()).toEqual(['another day', 'no topic', 'back']);
  await act(async () => root.unmount());
});

test('the next user does not see the toasts of the previous one', async () => {
  const root = createRoot(document.createElement('div'));
  const showAs = (userId: string | undefined) =>
    act(async () =>
      root.render(
        <ToastProvider>
          <Page />
          <Session userId={userId} />
        </ToastProvider>,
      ),
    );
  await showAs(undefined);
  await act(() => vi.advanceTimersByTimeAsync(1_000));
  // A toast of the sign-in stays.
  await showAs('ada');
  expect(shownTexts()).toContain('lost');
  await showAs('ben');
  expect(shownTexts()).toEqual([]);
  await act(async () => root.unmount());
});
