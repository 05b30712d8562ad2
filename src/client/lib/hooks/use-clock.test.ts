import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { relativeTime } from '#domain/day/clock-time.ts';
import { subscribeToClock } from './use-clock.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

class Page extends EventTarget {
  hidden = false;
  show(visible: boolean): void {
    this.hidden = !visible;
    this.dispatchEvent(new Event('visibilitychange'));
  }
}

function watch() {
  const page = new Page();
  const written = new Date();
  let text = '';
  const read = (): void => void (text = relativeTime(written, new Date()));
  read();
  const stop = subscribeToClock(read, page as unknown as Document, new EventTarget());
  return { page, stop, text: () => text };
}

test('updates "Just now" while the tab is visible', () => {
  const { text } = watch();
  expect(text()).toBe('Just now');
  vi.advanceTimersByTime(75_000);
  expect(text()).toBe('1m ago');
});

test('runs no timer in a hidden tab and updates when the tab is shown again', () => {
  const { page, text, stop } = watch();
  page.show(false);
  expect(vi.getTimerCount()).toBe(0);
  vi.advanceTimersByTime(10 * 60_000);
  expect(text()).toBe('Just now');
  page.show(true);
  expect(text()).toBe('10m ago');
  vi.advanceTimersByTime(60_000);
  expect(text()).toBe('11m ago');
  stop();
  expect(vi.getTimerCount()).toBe(0);
});
