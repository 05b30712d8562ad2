/**
 * Runs the background tasks of every screen of a signed-in user. Loaded when the page is idle, so that it does not delay
 * the editor.
 */
import { useEffect } from 'react';
import { dayOf } from '#domain/day/day.ts';
import { storeProfile } from '#client/lib/plan/stored-profile.ts';
import { usePremium } from '#client/lib/plan/premium.ts';
import { useSession } from '#client/lib/session/session.ts';
import { useJournal } from './day-savers-provider.tsx';
import { browserTimers } from './journal.ts';
import { watchOtherTabs } from './live/closed-tabs.ts';
import { useLiveUpdates } from './live/use-live-updates.ts';
import { pruneCopies } from './store/prune-copies.ts';
import { watchWaitingText } from './store/request-persistence.ts';

export function BackgroundTasks(): null {
  const { copies, drafts, savers, tabs } = useJournal();
  const { expired, profile } = useSession();
  const premium = usePremium();
  useLiveUpdates();

  useEffect(() => {
    // Without a session nothing can be sent.
    if (!expired) return watchOtherTabs({ drafts, tabs, savers, timers: browserTimers });
  }, [drafts, expired, savers, tabs]);

  useEffect(() => {
    if (profile && premium !== null) storeProfile(profile, premium);
  }, [premium, profile]);

  useEffect(() => {
    if (premium !== null) void pruneCopies(copies, premium, dayOf(new Date()));
  }, [copies, premium]);

  useEffect(() => watchWaitingText(savers), [savers]);
  return null;
}
