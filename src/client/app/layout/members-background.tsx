/**
 * The background tasks of a signed-in user: those of saving, the message about text that the browser has lost,
 * reminders.
 */
import { useCallback, useEffect } from 'react';
import { dayLabel, type Day } from '#domain/day/day.ts';
import { dayPath } from '#domain/routes.ts';
import { BackgroundTasks } from '#client/sync/background-tasks.tsx';
import { useClientConfig, useSupabase } from '#client/lib/api/supabase.ts';
import { useNavigate } from '#client/lib/navigation.ts';
import { followSession } from '#client/lib/api/push-device.ts';
import { useSession, useUser } from '#client/lib/session/session.ts';
import type { WorkerMessage } from '#client/lib/service-worker-rules.ts';
import { useToast } from '#client/ui/toast.tsx';
import { usePreferences } from '#client/ui/use-preferences.ts';

export function MembersBackground() {
  const toast = useToast();
  /** The message says "may": the text itself is not known, and the page may have saved it when it was closed. */
  const showLostText = useCallback(
    (days: readonly Day[]) =>
      toast({
        kind: 'error',
        text: `Unsent text of ${days.map(dayLabel).join(' and ')} may be lost: this browser has cleared its storage.`,
        // An error with a button stays until the user dismisses it.
        action: { label: 'Got it', run: () => {} },
      }),
    [toast],
  );
  // Reads the preferences only now that the page is usable: for this page, and for the start of the next one.
  usePreferences();
  useReminders();
  return <BackgroundTasks onTextLost={showLostText} />;
}

/** Keeps reminders on in this browser after a new sign-in, and opens the day of a notification that the user clicks. */
function useReminders(): void {
  const supabase = useSupabase();
  const { features } = useClientConfig();
  const navigate = useNavigate();
  const { expired } = useSession();
  const { id: userId } = useUser();
  useEffect(() => {
    if (!expired) followSession(supabase, userId, features).catch(() => undefined);
  }, [expired, features, supabase, userId]);
  useEffect(() => {
    const workers = navigator.serviceWorker as ServiceWorkerContainer | undefined;
    const onMessage = ({ data, ports }: MessageEvent): void => {
      const message = data as WorkerMessage;
      if (message.type !== 'openDay') return;
      ports[0]?.postMessage(true);
      void navigate(dayPath(message.day));
    };
    workers?.addEventListener('message', onMessage);
    return () => workers?.removeEventListener('message', onMessage);
  }, [navigate]);
}
