/** HAI Feedback: the pitch for a Dabbler; for a Closer what the coach said about the open day. */
import { useQuery } from '@tanstack/react-query';
import type { Day } from '#domain/day.ts';
import { scoreBand } from '#domain/hustle-score.ts';
import { PREMIUM_PRICE } from '#domain/plan.ts';
import { relativeTime } from '#domain/relative-time.ts';
import { useData } from '#client/lib/data-client.ts';
import { PlanWait } from '#client/ui/plan-wait.tsx';
import { usePremium } from '#client/lib/premium.ts';
import { useClientConfig } from '#client/lib/supabase.ts';
import { Button } from '#client/ui/button.tsx';
import { Dialog } from '#client/ui/dialog.tsx';
import { Notice } from '#client/ui/notice.tsx';
import { Waiting } from '#client/ui/waiting.tsx';
import styles from './coach-panel.module.css';

type CoachPanelProps = { date: Day; onClose: () => void; onUpgrade: () => void };

export function CoachPanel({ date, onClose, onUpgrade }: CoachPanelProps) {
  const premium = usePremium();
  return (
    <Dialog title="HAI Feedback" placement="end" onClose={onClose}>
      {premium === null && <PlanWait />}
      {premium === false && <Pitch onUpgrade={onUpgrade} />}
      {premium === true && <Feedback date={date} />}
    </Dialog>
  );
}

function Pitch({ onUpgrade }: { onUpgrade: () => void }) {
  return (
    <div className={styles.stack}>
      <p className={styles.lead}>AI feedback is a premium feature. Upgrade to Closer to access intelligent insights.</p>
      <ul className={styles.points}>
        <li>A HustleScore from 1 to 10 for every day</li>
        <li>Raw feedback that cites what you wrote</li>
        <li>As often as you like</li>
      </ul>
      <Button tone="primary" onClick={onUpgrade}>
        Upgrade to Closer
      </Button>
      <p className={styles.quiet}>{PREMIUM_PRICE.label}</p>
    </div>
  );
}

function Feedback({ date }: { date: Day }) {
  const data = useData();
  const { features } = useClientConfig();
  const {
    data: entry,
    isError,
    isPending,
  } = useQuery({
    queryKey: ['feedback', date],
    queryFn: async ({ signal }) => {
      const columns = 'ai_feedback, hustle_score, ai_analyzed_at, updated_at' as const;
      const { data: row } = await data
        .from('entries')
        .select(columns)
        .eq('date', date)
        .abortSignal(signal)
        .maybeSingle()
        .throwOnError();
      return row;
    },
  });

  if (isPending) return <Waiting />;
  if (isError) return <Notice kind="error">The feedback could not be read. Your log is safe.</Notice>;
  return (
    <div className={styles.stack}>
      {!entry?.ai_feedback || !entry.ai_analyzed_at ? (
        <p className={styles.quiet}>
          {entry
            ? 'No feedback for this day yet.'
            : 'No entry found for this date. Write something first to get AI feedback.'}
        </p>
      ) : (
        <>
          <p className={styles.quiet}>
            {entry.ai_analyzed_at >= entry.updated_at ? 'Up to date' : 'Analysis outdated'} ·{' '}
            {relativeTime(new Date(entry.ai_analyzed_at), new Date())}
          </p>
          {entry.hustle_score !== null && <Score score={entry.hustle_score} />}
          <h3>Raw Feedback</h3>
          <p className={styles.feedback}>{entry.ai_feedback}</p>
        </>
      )}
      {!features.coach && <Notice kind="info">AI feedback is not set up on this server.</Notice>}
    </div>
  );
}

function Score({ score }: { score: number }) {
  const band = scoreBand(score);
  return (
    <p className={styles.score} data-band={band.name}>
      <strong>{score}</strong>
      <span>
        of 10 · {band.word}
        <br />
        HustleScore
      </span>
    </p>
  );
}
