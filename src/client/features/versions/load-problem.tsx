import { Button } from '#client/ui/button.tsx';
import { Notice } from '#client/ui/notice.tsx';
import styles from './versions.module.css';

type LoadProblemProps = { what: string; request: { refetch: () => Promise<unknown>; isFetching: boolean } };

/** Shown in place of versions that could not be loaded: the reason, and that no text is lost. */
export function LoadProblem({ what, request }: LoadProblemProps) {
  return (
    <div className={styles.problem}>
      <Notice kind="error">
        {navigator.onLine
          ? `Couldn't load ${what}. Nothing is lost.`
          : `You are offline. Nothing is lost, but ${what} can be read only with a connection.`}
        <Button onClick={() => void request.refetch()} busy={request.isFetching} busyLabel="Loading...">
          Try again
        </Button>
      </Notice>
    </div>
  );
}
