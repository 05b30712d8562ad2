/**
 * Starts the focus mode, and shows today in a page that was left alone. Loaded after the page, which works without it:
 * the focus mode only changes how the bars look, and a tab becomes stale only after hours.
 */
import { useEffect, useEffectEvent, type RefObject } from 'react';
import { dateLabel, type Day } from '#domain/day/day.ts';
import { subscribeToClock } from '#client/lib/hooks/use-clock.ts';
import { localToday } from '#client/lib/session/browser-preferences.ts';
import { useJournal } from '#client/sync/day-savers-provider.tsx';
import { useToast } from '#client/ui/toast.tsx';

const IDLE_MS = 4 * 60 * 60 * 1_000;
const INPUTS = ['keydown', 'pointerdown', 'pointermove', 'wheel'] as const;

type PageBehaviourProps = { page: RefObject<HTMLElement | null> } & Omit<IdleReturnProps, 'onReturn'> & {
    /** Null if the URL names a date: the page then stays on that day. */
    onReturn: IdleReturnProps['onReturn'] | null;
  };

export function PageBehaviour({ page, onReturn, ...props }: PageBehaviourProps) {
  useEffect(() => (page.current ? startFocusMode(page.current) : undefined), [page]);
  return onReturn && <IdleReturn {...props} onReturn={onReturn} />;
}

type IdleReturnProps = {
  date: Day;
  /** Shows this day without a date in the address. */
  onReturn: (today: Day) => void;
  onGoBack: (date: Day) => void;
};

/** Shows today instead of the day on which a tab was left (docs/specification/days-and-saving.md 1). */
function IdleReturn({ date, onReturn, onGoBack }: IdleReturnProps) {
  const { savers } = useJournal();
  const toast = useToast();

  /** True if today is shown from now on. */
  const returnToToday = useEffectEvent((lastInputAt: number): boolean => {
    const now = Date.now();
    const today = localToday(new Date(now));
    const isStale = now - lastInputAt > IDLE_MS && localToday(new Date(lastInputAt)) !== today && date !== today;
    if (!isStale || savers.getUnsaved(date) || document.querySelector('dialog:modal')) return false;
    onReturn(today);
    return true;
  });
  const tell = useEffectEvent((left: Day) =>
    toast({
      kind: 'info',
      text: `Showing today instead of ${dateLabel(left)}.`,
      action: { label: 'Go back', run: () => onGoBack(left) },
    }),
  );
  const shownDay = useEffectEvent(() => date);

  useEffect(() => {
    const listening = new AbortController();
    let lastInputAt = Date.now();
    /** The day that today has replaced. The toast about it waits for the next input, when the user is there. */
    let left: Day | null = null;
    const stopClock = subscribeToClock(() => {
      const day = shownDay();
      if (returnToToday(lastInputAt)) left = day;
    });
    const onInput = (): void => {
      lastInputAt = Date.now();
      if (left !== null) tell(left);
      left = null;
    };
    for (const input of INPUTS) addEventListener(input, onInput, { passive: true, signal: listening.signal });
    return () => {
      stopClock();
      listening.abort();
    };
  }, []);
  return null;
}

/** Typing for this long starts the focus mode. */
const WRITING_MS = 3_000;
/** After a longer pause, the next input starts a new stretch of typing. */
const MAX_PAUSE_MS = 5_000;
const SCROLL_STEP_PX = 12;
const BAR_HEIGHT_PX = 64;

/**
 * Dims the bars while the user writes and hides them while a phone scrolls down, by attributes that style sheets read.
 * Returns a function that removes the listeners.
 */
function startFocusMode(page: HTMLElement): () => void {
  const listeners = new AbortController();
  const { signal } = listeners;
  watchWriting(page, signal);
  watchScrolling(page, signal);
  return () => listeners.abort();
}

/** Sets `data-writing` after three seconds of typing. The pointer, Tab, Escape or a new focus removes it. */
function watchWriting(page: HTMLElement, signal: AbortSignal): void {
  let startedAt = 0;
  let lastInputAt = 0;
  const showBars = (): void => {
    startedAt = 0;
    delete page.dataset['writing'];
  };
  const onInput = (): void => {
    const now = Date.now();
    if (startedAt === 0 || now - lastInputAt > MAX_PAUSE_MS) startedAt = now;
    lastInputAt = now;
    if (now - startedAt >= WRITING_MS) page.dataset['writing'] = '';
  };
  const onKey = (event: KeyboardEvent): void => {
    if (event.key === 'Tab' || event.key === 'Escape') showBars();
  };
  page.addEventListener('input', onInput, { signal });
  page.addEventListener('focusin', showBars, { signal });
  addEventListener('pointermove', showBars, { passive: true, signal });
  addEventListener('pointerdown', showBars, { passive: true, signal });
  addEventListener('keydown', onKey, { signal });
}

/** Sets `data-scrolled` on scrolling down, removes it on scrolling up. Only small screens use it in the style sheet. */
function watchScrolling(page: HTMLElement, signal: AbortSignal): void {
  let last = scrollY;
  const onScroll = (): void => {
    const moved = scrollY - last;
    if (Math.abs(moved) < SCROLL_STEP_PX) return;
    last = scrollY;
    if (moved > 0 && scrollY > BAR_HEIGHT_PX) page.dataset['scrolled'] = '';
    else delete page.dataset['scrolled'];
  };
  addEventListener('scroll', onScroll, { passive: true, signal });
}
