/**
 * Runs the background tasks of every screen of a signed-in user. Loaded when the page is idle, so that it does not delay
 * the editor.
 */
import { useEffect } from 'react';
import { dayOf, type Day } from '#domain/day/day.ts';
import { storeProfile } from '#client/lib/plan/stored-profile.ts';
import { usePremium } from '#client/lib/plan/premium.ts';
import { useSession, useUser } from '#client/lib/session/session.ts';
import { useJournal } from './day-savers-provider.tsx';
import { browserTimers } from './journal.ts';
import { watchOtherTabs } from './live/closed-tabs.ts';
import { useLiveUpdates } from './live/use-live-updates.ts';
import { removeLostDrafts } from './store/lost-drafts.ts';
import { pruneCopies } from './store/prune-copies.ts';
import { watchWaitingText } from './store/request-persistence.ts';

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
    if (premium !== null) void pruneCopies(copies, premium, dayOf(new Date()));
  }, [copies, premium]);

  useEffect(() => watchWaitingText(savers), [savers]);
  return null;
}
