/** Connects the reviews screen to the upgrade dialog. */
import { ReviewsScreen } from '#client/features/coach/reviews-screen.tsx';
import { useUpgrade } from '../layout/upgrade-context.ts';

export function ReviewsRoute() {
  const upgrade = useUpgrade();
  return <ReviewsScreen onUpgrade={() => upgrade('trend-analysis')} />;
}
