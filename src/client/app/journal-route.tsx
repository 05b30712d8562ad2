/** The journal with its two sheets: the menu on the left, the feedback on the right. */
import { lazy, Suspense, useState } from 'react';
import { JournalScreen } from '#client/features/journal/journal-screen.tsx';
import { useUpgrade } from './upgrade-context.ts';

const CalendarDialog = lazy(async () => ({ default: (await import('#client/features/calendar/calendar-dialog.tsx')).CalendarDialog }));
const Sidebar = lazy(async () => ({ default: (await import('./sidebar.tsx')).Sidebar }));
const CoachPanel = lazy(async () => ({ default: (await import('#client/features/coach/coach-panel.tsx')).CoachPanel }));

export function JournalRoute() {
  const upgrade = useUpgrade();
  const [sheet, setSheet] = useState<'menu' | 'feedback' | null>(null);
  const close = () => setSheet(null);

  return (
    <>
      <JournalScreen
        onOpenMenu={() => setSheet('menu')}
        onOpenFeedback={() => setSheet('feedback')}
        onUpgrade={upgrade}
        calendar={CalendarDialog}
      />
      <Suspense>
        {sheet === 'menu' && <Sidebar onClose={close} onUpgrade={() => upgrade('default')} />}
        {sheet === 'feedback' && <CoachPanel onClose={close} onUpgrade={() => upgrade('ai-feedback')} />}
      </Suspense>
    </>
  );
}
