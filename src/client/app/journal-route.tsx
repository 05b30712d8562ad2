/** The journal with what lies over it: the menu on the left, the feedback on the right, and Find. */
import { useSearch } from '@tanstack/react-router';
import { lazy, Suspense, useState } from 'react';
import type { Day } from '#domain/day.ts';
import type { UpgradeFeature } from '#domain/upgrade.ts';
import { JournalScreen } from '#client/features/journal/journal-screen.tsx';
import { LoadingScreen } from './loading-screen.tsx';
import { useUpgrade } from './upgrade-context.ts';

const CalendarDialog = lazy(async () => ({
  default: (await import('#client/features/calendar/calendar-dialog.tsx')).CalendarDialog,
}));
const Sidebar = lazy(async () => ({ default: (await import('./sidebar.tsx')).Sidebar }));
const CoachPanel = lazy(async () => ({ default: (await import('#client/features/coach/coach-panel.tsx')).CoachPanel }));
const JournalFind = lazy(async () => ({ default: (await import('./journal-find.tsx')).JournalFind }));
const ReturnFromPaypal = lazy(async () => ({
  default: (await import('./return-from-paypal.tsx')).ReturnFromPaypal,
}));

export function JournalRoute() {
  const upgrade = useUpgrade();
  const [returning, setReturning] = useState(useSearch({ strict: false, select: (search) => 'payment' in search }));
  const [menuOpen, setMenuOpen] = useState(false);
  const [finding, setFinding] = useState(false);
  const [feedbackOn, setFeedbackOn] = useState<Day | null>(null);
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
        onFind={() => setFinding(true)}
        onUpgrade={upgrade}
        calendar={CalendarDialog}
      />
      <Suspense>
        {menuOpen && (
          <Sidebar
            onClose={() => setMenuOpen(false)}
            onFind={() => {
              setMenuOpen(false);
              setFinding(true);
            }}
            onUpgrade={() => offer('default')}
          />
        )}
        {finding && <JournalFind onClose={() => setFinding(false)} onUpgrade={() => offer('historical-logs')} />}
        {feedbackOn && (
          <CoachPanel date={feedbackOn} onClose={() => setFeedbackOn(null)} onUpgrade={() => offer('ai-feedback')} />
        )}
      </Suspense>
    </>
  );
}
