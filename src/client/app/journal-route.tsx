/** The journal with what lies over it: the menu on the left, the feedback on the right, and Find. */
import { useSearch } from '@tanstack/react-router';
import { lazy, Suspense, useCallback, useEffect, useState } from 'react';
import type { Day } from '#domain/day.ts';
import type { UpgradeFeature } from '#domain/upgrade.ts';
import { JournalScreen } from '#client/features/journal/journal-screen.tsx';
import { useToast } from '#client/ui/toast.tsx';
import { LoadingScreen } from './loading-screen.tsx';
import { useUpgrade } from './upgrade-context.ts';

const CalendarDialog = lazy(async () => ({
  default: (await import('#client/features/calendar/calendar-dialog.tsx')).CalendarDialog,
}));
const Sidebar = lazy(async () => ({ default: (await import('./sidebar.tsx')).Sidebar }));
const JournalFeedback = lazy(async () => ({ default: (await import('./journal-feedback.tsx')).JournalFeedback }));
const loadFind = () => import('./journal-find.tsx');
const JournalFind = lazy(async () => ({ default: (await loadFind()).JournalFind }));
/** Long after everything that the page itself needs. */
const FETCH_FIND_AFTER_MS = 4_000;

const ReturnFromPaypal = lazy(async () => ({
  default: (await import('./return-from-paypal.tsx')).ReturnFromPaypal,
}));

export function JournalRoute() {
  const upgrade = useUpgrade();
  const [returning, setReturning] = useState(useSearch({ strict: false, select: (search) => 'payment' in search }));
  const [menuOpen, setMenuOpen] = useState(false);
  const [finding, setFinding] = useState(false);
  const [feedbackOn, setFeedbackOn] = useState<Day | null>(null);
  const closeFeedback = useCallback(() => setFeedbackOn(null), []);
  const toast = useToast();
  // Opened only once its code is there: without a connection the page would otherwise break under somebody who writes.
  const openFind = (): void =>
    void loadFind().then(
      () => setFinding(true),
      () => toast({ kind: 'error', text: 'Find did not arrive. Check your connection, then load the page again.' }),
    );
  useEffect(() => {
    const timer = setTimeout(() => void loadFind().catch(() => undefined), FETCH_FIND_AFTER_MS);
    return () => clearTimeout(timer);
  }, []);
  // One thing lies over the page at a time: the offer takes the place of the sheet that led to it.
  const offer = (feature: UpgradeFeature) => {
    setMenuOpen(false);
    setFeedbackOn(null);
    setFinding(false);
    upgrade(feature);
  };

  if (returning) {
    return (
      <Suspense fallback={<LoadingScreen />}>
        <ReturnFromPaypal onEnd={() => setReturning(false)} />
      </Suspense>
    );
  }
  return (
    <>
      <JournalScreen
        onOpenMenu={() => setMenuOpen(true)}
        onOpenFeedback={setFeedbackOn}
        onFind={openFind}
        onUpgrade={upgrade}
        calendar={CalendarDialog}
      />
      <Suspense>
        {menuOpen && (
          <Sidebar
            onClose={() => setMenuOpen(false)}
            onFind={() => {
              setMenuOpen(false);
              openFind();
            }}
            onUpgrade={() => offer('default')}
          />
        )}
        {finding && <JournalFind onClose={() => setFinding(false)} onUpgrade={() => offer('historical-logs')} />}
        {feedbackOn && (
          <JournalFeedback openedOn={feedbackOn} onClose={closeFeedback} onUpgrade={() => offer('ai-feedback')} />
        )}
      </Suspense>
    </>
  );
}
