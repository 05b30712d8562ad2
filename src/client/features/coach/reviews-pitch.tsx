/** The upgrade pitch, which replaces the reviews on the free plan. */
import { AI_MESSAGES, FAIR_USE_NOTE } from '#domain/coach/coach.ts';
import { PREMIUM_PRICE } from '#domain/plan/plan.ts';
import { useClientConfig } from '#client/lib/api/supabase.ts';
import { LockedCrown } from '#client/ui/plan/crown.tsx';
import { SampleReview } from '#client/ui/coach-sample.tsx';
import { Notice } from '#client/ui/notice.tsx';
import { UpgradeButton } from '#client/ui/plan/upgrade-button.tsx';
import styles from './reviews.module.css';

const POINTS = [
  { title: 'Pattern recognition', text: 'What your good days have in common, and your bad days.' },
  { title: 'Biggest wins and obstacles', text: 'Taken from your own logs, not from a template.' },
  { title: 'Focus-area recommendations', text: 'The one or two things worth doing differently.' },
  { title: '7-day and 30-day analysis', text: 'A week to steer by, a month to see where it leads.' },
] as const;

export function ReviewsPitch({ onUpgrade }: { onUpgrade: () => void }) {
  const { features } = useClientConfig();
  return (
    <section className={styles.pitch}>
      <h2 className={styles.flag}>
        <LockedCrown aria-hidden="true" /> Premium Feature
      </h2>
      {features.coach ? (
        <>
          <p className={styles.lead}>{AI_MESSAGES.reviewsPremium}</p>
          <SampleReview />
          <dl className={styles.points}>
            {POINTS.map((point) => (
              <div key={point.title}>
                <dt>{point.title}</dt>
                <dd>{point.text}</dd>
              </div>
            ))}
          </dl>
        </>
      ) : (
        // A server without a coach cannot sell reviews. The upgrade button stays, because the plan has other benefits.
        <Notice kind="info">{AI_MESSAGES.notConfigured}</Notice>
      )}
      <UpgradeButton onClick={onUpgrade} />
      <p className={styles.price}>{features.coach ? AI_MESSAGES.reviewsPrice : PREMIUM_PRICE.label}</p>
      {features.coach && <p className={styles.price}>{FAIR_USE_NOTE}</p>}
    </section>
  );
}
