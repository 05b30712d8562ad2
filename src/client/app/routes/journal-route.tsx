/** The journal screen and its overlays. */
import { Suspense, useCallback, useEffect, useEffectEvent, useState } from 'react';
import type { Day } from '#domain/day/day.ts';
import type { UpgradeFeature } from '#domain/plan/upgrade.ts';
import { useSearchParam } from '#client/lib/navigation.ts';
import { JournalScreen } from '#client/features/journal/journal-screen.tsx';
import { useEditor } from '#client/features/journal/day/use-editor.ts';
import { lazyChunk, preloadChunksWhenIdle, useOpenChunk, type LazyChunk } from '#client/ui/lazy-chunk.ts';
import { useClientConfig } from '#client/lib/api/supabase.ts';
import { useToast } from '#client/ui/toast.tsx';
import { LoadingScreen } from '../full-screen.tsx';
import { UpgradeContext, useUpgrade } from '#client/lib/plan/premium.ts';
import type { Overlay, OverlayProps } from './overlay-props.ts';

const feedback = lazyChunk(async () => (await import('./journal-feedback.tsx')).JournalFeedback);
/** Only one of these is open at a time. The feedback panel may be open besides. */
const overlays: Readonly<Record<Overlay, LazyChunk<OverlayProps>>> = {
  menu: lazyChunk(async () => (await import('../layout/sidebar.tsx')).Sidebar),
  day: lazyChunk(async () => (await import('./journal-day-menu.tsx')).JournalDayMenu),
  calendar: lazyChunk(async () => (await import('./journal-move.tsx')).JournalCalendar),
  find: lazyChunk(async () => (await import('./journal-find.tsx')).JournalFind),
  move: lazyChunk(async () => (await import('./journal-move.tsx')).JournalMove),
  versions: lazyChunk(async () => (await import('#client/features/versions/versions-dialog.tsx')).VersionsDialog),
  deleted: lazyChunk(async () => (await import('#client/features/versions/deleted-days-dialog.tsx')).DeletedDaysDialog),
};

const paymentReturn = lazyChunk(async () => (await import('./journal-payment-return.tsx')).JournalPaymentReturn);

export function JournalRoute() {
  const upgrade = useUpgrade();
  const [returning, setReturning] = useState(useSearchParam('payment') !== undefined);
  const [shown, setShown] = useState<{ overlay: Overlay; date: Day | null } | null>(null);
  const [feedbackOn, setFeedbackOn] = useState<Day | null>(null);
  const close = (): void => setShown(null);
  const closeFeedback = useCallback(() => setFeedbackOn(null), []);
  const openChunk = useOpenChunk();
  const open = (overlay: Overlay, date: Day | null): void => {
    close();
    openChunk(overlays[overlay], () => setShown({ overlay, date }));
  };
  // A link of the year's page names the words to find (find-dialog.tsx reads them).
  const isFinding = useSearchParam('find') !== undefined;
  const openFind = useEffectEvent(() => open('find', null));
  useEffect(() => {
    if (isFinding) openFind();
  }, [isFinding]);
  const openFeedback = (date: Day): void => openChunk(feedback, () => setFeedbackOn(date));
  const isEditable = useEditor().module !== null;
  const config = useClientConfig();
  const toast = useToast();
  useEffect(() => {
    if (!isEditable) return;
    const startWorker = async (): Promise<void> =>
      (await import('../service-worker/start-service-worker.ts')).startServiceWorker(config, toast);
    // The worker starts last, because its downloads compete with the preload. `startServiceWorker` may also remove an
    // old worker, which controls this page until it closes and would store the chunks that the page loads afterwards.
    return preloadChunksWhenIdle(undefined, startWorker);
  }, [config, isEditable, toast]);
  // The upgrade dialog replaces the open overlay and the feedback panel.
  const offer = (feature: UpgradeFeature) => {
    close();
    closeFeedback();
    upgrade(feature);
  };

  if (returning) {
    return (
      <Suspense fallback={<LoadingScreen />}>
        <paymentReturn.LoadingView
          onEnd={(day) => {
            setReturning(false);
            if (day) openFeedback(day);
          }}
        />
      </Suspense>
    );
  }
  const View = shown && overlays[shown.overlay].View;
  return (
    <>
      <JournalScreen onOpen={open} onOpenFeedback={openFeedback} />
      <UpgradeContext value={offer}>
        {View && <View key={shown.overlay} date={shown.date} onClose={close} onOpen={open} />}
        {feedbackOn && <feedback.View openedOn={feedbackOn} onClose={closeFeedback} />}
      </UpgradeContext>
    </>
  );
}
