/** Hustle Reviews: the upgrade pitch on the free plan, the two periods on premium. */
import { PlanPlaceholder } from '#client/ui/plan/plan-placeholder.tsx';
import { usePremium } from '#client/lib/plan/premium.ts';
import { useTitle } from '#client/lib/hooks/use-title.ts';
import { BackToJournal } from '#client/ui/page/back-to-journal.tsx';
import { Page } from '#client/ui/page/page.tsx';
import { ReviewPeriods } from './review-periods.tsx';
import { ReviewsPitch } from './reviews-pitch.tsx';

export function ReviewsScreen({ onUpgrade }: { onUpgrade: () => void }) {
  useTitle('Hustle Reviews');
  const premium = usePremium();
  return (
    <Page title="Hustle Reviews" back={<BackToJournal />}>
      {premium === null && <PlanPlaceholder />}
      {premium === false && <ReviewsPitch onUpgrade={onUpgrade} />}
      {premium === true && <ReviewPeriods />}
    </Page>
  );
}
