// @vitest-environment happy-dom
import { act, useEffect } from 'react';
import { createRoot } from 'react-dom/client';
import { expect, test, vi } from 'vitest';
import { ToastProvider, useToast } from './toast.tsx';

function Page(): null {
  const toast = useToast();
  useEffect(() => {
    toast({ kind: 'error', text: 'lost', action: { label: 'Got it', run: () => {} } });
    for (const text of ['one', 'two', 'three', 'four']) toast({ kind: 'success', text });
  }, [toast]);
  return null;
}

test('an error with a button stays when other toasts follow, of which three are shown', async () => {
  vi.stubGlobal('IS_REACT_ACT_ENVIRONMENT', true);
  vi.useFakeTimers();
  const root = createRoot(document.createElement('div'));
  const page = (
    <ToastProvider>
      <Page />
    </ToastProvider>
  );
  await act(async () => root.render(page));
  await act(() => vi.advanceTimersByTimeAsync(1_000));
  const texts = [...document.querySelectorAll('p')].map(({ textContent }) => textContent);
  expect(texts).toEqual(['two', 'three', 'four', 'lost']);
  await act(async () => root.unmount());
  vi.useRealTimers();
});
