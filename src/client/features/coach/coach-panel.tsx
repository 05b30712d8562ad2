/** HAI Feedback: the pitch for a Dabbler; for a Closer what the coach says about the open day. */
import { AI_MESSAGES } from '#domain/coach.ts';
import type { Day } from '#domain/day.ts';
import { PREMIUM_PRICE } from '#domain/plan.ts';
import { usePremium } from '#client/lib/premium.ts';
import { useClientConfig } from '#client/lib/supabase.ts';
import { Notice } from '#client/ui/notice.tsx';
import { PlanWait } from '#client/ui/plan-wait.tsx';
import { UpgradeButton } from '#client/ui/upgrade-button.tsx';
import styles from './coach-panel.module.css';
import { CoachSheet } from './coach-sheet.tsx';
import { Feedback } from './feedback.tsx';
import type { OpenLog } from './use-feedback.ts';

type CoachPanelProps = { date: Day; log: OpenLog; onClose: () => void; onUpgrade: () => void };

export function CoachPanel({ date, log, onClose, onUpgrade }: CoachPanelProps) {
  const premium = usePremium();
  const { features } = useClientConfig();
  return (
    <CoachSheet title="HAI Feedback" onClose={onClose}>
      {premium === null && <PlanWait />}
      {premium === false && <Pitch configured={features.coach} onUpgrade={onUpgrade} />}
      {/* A day that was left is not analysed to its end. */}
      {premium === true && <Feedback key={date} date={date} log={log} configured={features.coach} />}
    </CoachSheet>
  );
}

function Pitch({ configured, onUpgrade }: { configured: boolean; onUpgrade: () => void }) {
  return (
    <div className={styles.stack}>
      <p className={styles.lead}>{AI_MESSAGES.premium}</p>
      <ul className={styles.points}>
        <li>A HustleScore from 1 to 10 for every day</li>
        <li>Raw feedback that cites what you wrote</li>
        <li>As often as you like</li>
      </ul>
      {!configured && <Notice kind="info">{AI_MESSAGES.notConfigured}</Notice>}
      <UpgradeButton onClick={onUpgrade} />
      <p className={styles.quiet}>{PREMIUM_PRICE.label}</p>
    </div>
  );
}
