/** The line under the log: small, always there, in words. */
import type { DaySaver } from '#client/sync/day-saver/day-saver.ts';
import { isAlarming, isAnnounced, statusText } from '#client/sync/save-status.ts';
import type { SaveStatus } from '#client/sync/save-status.ts';
import styles from './save-status-line.module.css';

const CAN_BE_TRIED = ['retrying', 'offline', 'refused'];

type SaveStatusLineProps = { saver: DaySaver; status: SaveStatus; onUpgrade: (() => void) | null };

export function SaveStatusLine({ saver, status, onUpgrade }: SaveStatusLineProps) {
  return (
    <div className={styles.line}>
      {/* Every save is shown; only what ended well or badly is read out. */}
      <p
        className={styles.status}
        role="status"
        aria-live={isAnnounced(status) ? 'polite' : 'off'}
        data-alarm={isAlarming(status)}
        data-kind={status.kind}
      >
        {statusText(status, Date.now())}
      </p>
      {CAN_BE_TRIED.includes(status.kind) && (
        <button type="button" className={styles.button} onClick={() => saver.retry()}>
          Try now
        </button>
      )}
      {status.kind === 'locked' && onUpgrade && (
        <button type="button" className={styles.button} onClick={onUpgrade}>
          Upgrade to Closer
        </button>
      )}
    </div>
  );
}
