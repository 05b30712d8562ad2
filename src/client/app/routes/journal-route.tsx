/** The journal screen and its overlays: menu, feedback, Find and "Move this log". */
import { useSearch } from '@tanstack/react-router';
import { lazy, Suspense, useCallback, useEffect, useState } from 'react';
import type { Day } from '#domain/day/day.ts';
import type { UpgradeFeature } from '#domain/plan/upgrade.ts';
import { JournalScreen } from '#client/features/journal/journal-screen.tsx';
import { useEditor } from '#client/features/journal/day/use-editor.ts';
import { lazyChunk, preloadChunksWhenIdle, useOpenChunk } from '#client/ui/lazy-chunk.ts';
import { useClientConfig } from '#client/lib/api/supabase.ts';
import { useToast } from '#client/ui/toast.tsx';
import { LoadingScreen } from '../loading-screen.tsx';
import { useUpgrade } from '../layout/upgrade-context.ts';

const calendar = lazyChunk(async () => (await import('#client/features/calendar/calendar-dialog.tsx')).CalendarDialog);
const sidebar = lazyChunk(async () => (await import('../layout/sidebar.tsx')).Sidebar);
const feedback = lazyChunk(async () => (await import('./journal-feedback.tsx')).JournalFeedback);
const move = lazyChunk(async () => (await import('./journal-move.tsx')).JournalMove);
const find = lazyChunk(async () => (await import('./journal-find.tsx')).JournalFind);

const JournalPaymentReturn = lazy(async () => ({
  default: (await import('./journal-payment-return.tsx')).JournalPaymentReturn,
}));

export function JournalRoute() {
  const upgrade = useUpgrade();
  const [returning, setReturning] = useState(useSearch({ strict: false, select: (search) => 'payment' in search }));
  const [menuOpen, setMenuOpen] = useState(false);
  const [menuDay, setMenuDay] = useState<Day | null>(null);
  const [moving, setMoving] = useState<Day | null>(null);
  const [finding, setFinding] = useState(false);
  const [feedbackOn, setFeedbackOn] = useState<Day | null>(null);
  const closeFeedback = useCallback(() => setFeedbackOn(null), []);
  const openChunk = useOpenChunk();
  const openFind = (): void => openChunk(find, () => setFinding(true));
  const openMove = (date: Day): void => openChunk(move, () => setMoving(date));
  const editable = useEditor().module !== null;
  const config = useClientConfig();
  const toast = useToast();
  useEffect(() => {
    if (!editable) return;
    const startWorker = async (): Promise<void> =>
      (await import('../service-worker/start-service-worker.ts')).startServiceWorker(config, toast);
    const stops = [preloadChunksWhenIdle(), preloadChunksWhenIdle([startWorker])];
    return () => stops.forEach((stop) => stop());
  }, [config, editable, toast]);
  // One overlay at a time: the upgrade dialog replaces the one it was opened from.
  const offer = (feature: UpgradeFeature) => {
    setMenuOpen(false);
    setFeedbackOn(null);
    setFinding(false);
    upgrade(feature);
  };

  if (returning) {
    return (
      <Suspense fallback={<LoadingScreen />}>
        <JournalPaymentReturn onEnd={() => setReturning(false)} />
      </Suspense>
    );
  }
  return (
    <>
      <JournalScreen
        onOpenMenu={(date) =>
          openChunk(sidebar, () => {
            setMenuDay(date);
            setMenuOpen(true);
          })
        }
        onOpenFeedback={(date) => openChunk(feedback, () => setFeedbackOn(date))}
        onFind={openFind}
        onMove={openMove}
        onUpgrade={upgrade}
        calendar={calendar}
      />
      {menuOpen && (
        <sidebar.View
          date={menuDay}
          onClose={() => setMenuOpen(false)}
          onFind={() => {
            setMenuOpen(false);
            openFind();
          }}
          onMove={(date) => {
            setMenuOpen(false);
            openMove(date);
          }}
          onUpgrade={() => offer('default')}
        />
      )}
      {moving && <move.View from={moving} onClose={() => setMoving(null)} />}
      {finding && <find.View onClose={() => setFinding(false)} onUpgrade={() => offer('historical-logs')} />}
      {feedbackOn && (
        <feedback.View openedOn={feedbackOn} onClose={closeFeedback} onUpgrade={() => offer('ai-feedback')} />
      )}
    </>
  );
}
