/** Takes an import back, after a question beside the button. */
import { useState } from 'react';
import { Button } from '#client/ui/button.tsx';
import { pluralize } from '../pluralize.ts';
import common from '../settings.module.css';
import styles from './import.module.css';

export function UndoButton({ days, onUndo }: { days: number; onUndo: () => void }) {
  const [isAsking, setIsAsking] = useState(false);
  if (!isAsking) return <Button onClick={() => setIsAsking(true)}>Undo Import</Button>;
  return (
    <div className={styles.question} role="group" aria-label="Undo this import">
      <p>
        Take back {pluralize(days, 'day')}? Added logs are deleted, replaced logs get their earlier text back. Logs that
        you changed since stay.
      </p>
      <div className={common.actions}>
        <Button tone="primary" autoFocus onClick={onUndo}>
          Undo {pluralize(days, 'Day')}
        </Button>
        <Button tone="text" onClick={() => setIsAsking(false)}>
          Keep them
        </Button>
      </div>
    </div>
  );
}
