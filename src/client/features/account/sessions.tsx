/** The devices that are signed in to the account, and buttons that sign them out. */
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { clockTime } from '#domain/day/clock-time.ts';
import { dateLabel, dayOf, daysBetween } from '#domain/day/day.ts';
import { useOwnAccount, type OwnSession } from '#client/lib/api/own-account.ts';
import { useAuth } from '#client/lib/api/use-auth.ts';
import { useClock } from '#client/lib/hooks/use-clock.ts';
import { useFocusRestore } from '#client/lib/hooks/use-focus-restore.ts';
import { useUser } from '#client/lib/session/session.ts';
import { Button } from '#client/ui/button.tsx';
import { LoadingText } from '#client/ui/loading-text.tsx';
import { Notice } from '#client/ui/notice.tsx';
import { Section } from '#client/ui/page/page.tsx';
import { Hint, LoadError, RowName, Rows, Stack } from '#client/ui/stack.tsx';
import styles from './security.module.css';

/** The id of the session that a request is ending, `others` for all but the session of this device, or null. */
type Ending = string | null;
type Outcome = { kind: 'success' | 'error'; text: string } | null;

export function useOwnSessions() {
  const { id: userId, updated_at: changedAt, factors = [], identities = [] } = useUser();
  const account = useOwnAccount();
  const verifiedFactors = factors.filter(({ status }) => status === 'verified');
  return useQuery({
    // Reads the list again after a change of the password, factors or linked sign-ins: it may have ended other
    // sessions.
    queryKey: ['own-sessions', userId, changedAt, verifiedFactors.length, identities.length],
    queryFn: ({ signal }) => account.listSessions(signal),
    placeholderData: keepPreviousData,
  });
}

export function SessionsSection() {
  const auth = useAuth();
  const account = useOwnAccount();
  const { fallbackRef, areaProps } = useFocusRestore();
  const [ending, setEnding] = useState<Ending>(null);
  const [outcome, setOutcome] = useState<Outcome>(null);
  const sessions = useOwnSessions();

  async function end(which: string, request: () => Promise<void>, done: string): Promise<void> {
    setEnding(which);
    setOutcome(null);
    const succeeded = await request().then(
      () => true,
      () => false,
    );
    await sessions.refetch();
    setOutcome(
      succeeded
        ? { kind: 'success', text: done }
        : { kind: 'error', text: "Couldn't sign this out. Please try again." },
    );
    setEnding(null);
  }
  const endOne = ({ id, device }: OwnSession): Promise<void> =>
    end(id, () => account.endSession(id), `Signed out: ${device}.`);
  const endOthers = (): Promise<void> =>
    end(
      'others',
      async () => {
        const { error } = await auth.signOut({ scope: 'others' });
        if (error) throw error;
      },
      'Signed out everywhere else.',
    );

  return (
    <Section title="Where you are signed in" isPart>
      {/* Takes the focus by script only (focus restore), when the focused button disappears with its row. */}
      <Stack ref={fallbackRef} tabIndex={-1} aria-label="Signed-in devices" role="group" {...areaProps}>
        {sessions.isPending && <LoadingText />}
        {sessions.isError && <LoadError request={sessions}>Couldn't load your devices. You stay signed in.</LoadError>}
        {sessions.data && (
          <>
            <Rows>
              {sessions.data.map((session) => (
                <SessionRow
                  key={session.id}
                  session={session}
                  hasTwin={sessions.data.filter((other) => isTwin(other, session)).length > 1}
                  ending={ending}
                  onEnd={() => void endOne(session)}
                />
              ))}
            </Rows>
            {sessions.data.length > 1 ? (
              <Button
                busy={ending === 'others'}
                busyLabel="Signing out..."
                softDisabled={ending !== null}
                onClick={() => void endOthers()}
              >
                Sign out everywhere else
              </Button>
            ) : (
              <Hint>You are signed in on this device only.</Hint>
            )}
          </>
        )}
        {outcome && <Notice kind={outcome.kind}>{outcome.text}</Notice>}
      </Stack>
    </Section>
  );
}

const MINUTE_MS = 60_000;
const minuteOf = ({ created_at: signedInAt }: OwnSession): number => Math.floor(Date.parse(signedInAt) / MINUTE_MS);

/** True if the two rows would read the same without seconds. */
const isTwin = (one: OwnSession, other: OwnSession): boolean =>
  one.device === other.device && minuteOf(one) === minuteOf(other);

type SessionRowProps = { session: OwnSession; hasTwin: boolean; ending: Ending; onEnd: () => void };

function SessionRow({ session, hasTwin, ending, onEnd }: SessionRowProps) {
  const { id, device, current } = session;
  // At midnight "today" becomes "yesterday".
  const signedIn = useClock(() => momentLabel(new Date(session.created_at), new Date(), hasTwin));
  const lastSeen = useClock(() => momentLabel(new Date(session.last_seen_at), new Date()));
  return (
    <li className={styles.session}>
      <div>
        <RowName>{device}</RowName>
        <p className={styles.facts}>
          {current && <span>This device</span>}
          {!current && lastSeen !== signedIn && <span>Last seen {lastSeen}</span>}
          <span>Signed in {signedIn}</span>
        </p>
      </div>
      {!current && (
        <Button
          aria-label={`Sign out ${device}, signed in ${signedIn}`}
          busy={ending === id}
          busyLabel="Signing out..."
          softDisabled={ending !== null}
          onClick={onEnd}
        >
          Sign out
        </Button>
      )}
    </li>
  );
}

/** `today at 14:02`, `yesterday at 14:02`, `November 3, 2026 at 14:02`; with seconds `today at 14:02:09`. */
export function momentLabel(then: Date, now: Date, hasSeconds = false): string {
  const date = dayOf(then);
  const days = daysBetween(date, dayOf(now));
  const label = days <= 0 ? 'today' : days === 1 ? 'yesterday' : dateLabel(date);
  return `${label} at ${clockTime(then, hasSeconds)}`;
}
