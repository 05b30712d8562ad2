/**
 * Runs the background tasks of every screen of a signed-in user. Loaded when the page is idle, so that it does not
 * delay the editor.
 */
import { useQueryClient } from '@tanstack/react-query';
import { useEffect } from 'react';
import type { Day } from '#domain/day/day.ts';
import { storeProfile } from '#client/lib/plan/stored-profile.ts';
import { usePremium } from '#client/lib/plan/premium.ts';
import { useSupabase } from '#client/lib/api/supabase.ts';
import { localToday } from '#client/lib/session/browser-preferences.ts';
import { useSession, useUser } from '#client/lib/session/session.ts';
import { useJournal } from './day-savers-provider.tsx';
import { browserTimers } from './journal.ts';
import { watchOtherTabs, removeLostDrafts } from './live/closed-tabs.ts';
import { createRemoteChanges, startLiveSync } from './live/live-sync.ts';
import { pruneCopies } from './store/prune-copies.ts';
import type { DaySavers } from './day-savers.ts';

type BackgroundTasksProps = {
  /** The browser has cleared unsent text of these days. */
  onTextLost: (days: readonly Day[]) => void;
};

export function BackgroundTasks({ onTextLost }: BackgroundTasksProps): null {
  const { copies, drafts, outbox, savers, tabs } = useJournal();
  const { expired, profile } = useSession();
  const { id: userId } = useUser();
  const premium = usePremium();
  useLiveUpdates();

  useEffect(() => {
    const reportLostText = async (): Promise<void> => {
      const days = await removeLostDrafts(localStorage, userId, outbox);
      if (days.length > 0) onTextLost(days);
    };
    // Without a session nothing can be sent.
    if (!expired) return watchOtherTabs({ drafts, tabs, savers, timers: browserTimers, reportLostText });
  }, [drafts, expired, onTextLost, outbox, savers, tabs, userId]);

  useEffect(() => {
    if (profile && premium !== null) storeProfile(profile, premium);
  }, [premium, profile]);

  useEffect(() => {
    if (premium !== null) void pruneCopies(copies, premium, localToday());
  }, [copies, premium]);

  useEffect(() => watchWaitingText(savers), [savers]);
  return null;
}

/** Shows changes that were made elsewhere while a signed-in user's screen is open. */
function useLiveUpdates(): void {
  const queries = useQueryClient();
  const { copies, savers } = useJournal();
  const { id: userId } = useUser();
  const { expired } = useSession();
  const { ask } = useSupabase();

  useEffect(() => {
    // After a new sign-in the effect runs again.
    if (expired) return;
    const changes = createRemoteChanges({ savers, copies, queries, timers: browserTimers });
    const stop = startLiveSync({
      userId,
      ask,
      timers: browserTimers,
      applyChange: (change) => changes.apply(change),
      catchUp: () => changes.catchUp(),
    });
    return () => {
      stop();
      changes.close();
    };
  }, [ask, copies, expired, queries, savers, userId]);
}

/** Stores where the last request was made: in a tab (`browser`) or the `installed` app. Stays after a sign-out. */
const REQUESTED_KEY = 'hustle-forge:persistence-requested';

/**
 * Call while text waits on this device: Firefox asks the user, who then sees why. Asks once in this browser, and once
 * more in the installed app: Chromium decides by itself, in favour of sites that are used often and of installed apps.
 * A refusal is not shown to the user: drafts are sent as soon as they can be, with or without it.
 */
export async function requestPersistence(): Promise<void> {
  const asked = matchMedia('(display-mode: standalone)').matches ? 'installed' : 'browser';
  try {
    // Tabs and the installed app share the key: after the app, a tab does not ask either.
    if ([asked, 'installed'].includes(localStorage.getItem(REQUESTED_KEY) ?? '')) return;
    // Store the key before the first `await`, or the next save or another tab would ask too.
    localStorage.setItem(REQUESTED_KEY, asked);
    if (!(await navigator.storage.persisted())) await navigator.storage.persist();
  } catch {
    // A browser without this API or without storage.
  }
}

/**
 * Requests persistent storage when text first has to wait on this device because the server cannot be reached. Returns
 * a function that stops watching.
 */
export function watchWaitingText(savers: Pick<DaySavers, 'get' | 'subscribe' | 'unsavedDays'>): () => void {
  /** For each watched day the function that stops watching it. */
  const watched = new Map<Day, () => void>();
  const watch = (): void => {
    for (const date of savers.unsavedDays()) {
      const saver = savers.get(date);
      if (!saver || watched.has(date)) continue;
      const requestIfUnreachable = (): void => {
        if (['offline', 'retrying'].includes(saver.view().status.kind)) void requestPersistence();
      };
      watched.set(date, saver.subscribe(requestIfUnreachable));
      requestIfUnreachable();
    }
  };
  watch();
  const unsubscribe = savers.subscribe(watch);
  return () => {
    unsubscribe();
    for (const stop of watched.values()) stop();
  };
}
