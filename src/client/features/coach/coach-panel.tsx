/** The HAI Feedback panel: the upgrade pitch on the free plan, the feedback on the open day on premium. */
import type { Ref } from 'react';
import { AI_MESSAGES, FAIR_USE_NOTE } from '#domain/coach/coach.ts';
import type { Day } from '#domain/day/day.ts';
import { PREMIUM_PRICE } from '#domain/plan/plan.ts';
import { usePremium } from '#client/lib/plan/premium.ts';
import { useClientConfig } from '#client/lib/api/supabase.ts';
import { useFocusRestore } from '#client/lib/hooks/use-focus-restore.ts';
import { SampleDay } from '#client/ui/coach-sample.tsx';
import { Notice } from '#client/ui/notice.tsx';
import { PlanPlaceholder } from '#client/ui/plan/plan-placeholder.tsx';
import { UpgradeButton } from '#client/ui/plan/upgrade-button.tsx';
import styles from './coach-panel.module.css';
import { CoachSheet } from './coach-sheet.tsx';
import { Feedback } from './feedback.tsx';
import type { OpenLog } from './use-feedback.ts';

type CoachPanelProps = { date: Day; log: OpenLog; onClose: () => void };

export function CoachPanel({ date, log, onClose }: CoachPanelProps) {
  const premium = usePremium();
  const { features } = useClientConfig();
  // If the plan ends while a button of the panel has the focus, the upgrade button gets the focus.
  const { fallbackRef, areaProps } = useFocusRestore();
  return (
    <CoachSheet title="HAI Feedback" onClose={onClose}>
      <div className={styles.whole} {...areaProps}>
        {premium === null && <PlanPlaceholder />}
        {premium === false && <Pitch configured={features.coach} button={fallbackRef} />}
        {/* The key aborts the analysis when the day changes. */}
        {premium === true && (
          <Feedback key={date} date={date} log={log} configured={features.coach} onClose={onClose} />
        )}
      </div>
    </CoachSheet>
  );
}

type PitchProps = { configured: boolean; button: Ref<HTMLButtonElement> };

function Pitch({ configured, button }: PitchProps) {
  return (
    <>
      <div className={styles.stack}>
        {configured ? (
          <>
            <p className={styles.lead}>{AI_MESSAGES.premium}</p>
            <SampleDay />
            <ul className={styles.points}>
              <li>A HustleScore from 1 to 10 for every day</li>
              <li>Raw feedback that cites what you wrote</li>
              <li>As often as you like</li>
            </ul>
            <p className={styles.quiet}>{FAIR_USE_NOTE}</p>
          </>
        ) : (
          // A server without a coach cannot sell feedback. The upgrade button stays, because the plan has other benefits.
          <Notice kind="info">{AI_MESSAGES.notConfigured}</Notice>
        )}
      </div>
      <div className={styles.foot}>
        <div className={styles.offer}>
          <UpgradeButton feature="ai-feedback" button={button} />
          <p>{PREMIUM_PRICE.label}</p>
        </div>
      </div>
    </>
  );
}
