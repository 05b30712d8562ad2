/** The switch "On this device" of the reminder, and the user's other devices (docs/specification/habit.md 6). */
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { dateLabel, dayOf } from '#domain/day/day.ts';
import { useData } from '#client/lib/api/data-client.ts';
import { useSupabase } from '#client/lib/api/supabase.ts';
import { pushSupport, storedDevice, turnOff, turnOn, type PushSupport } from '#client/lib/api/push-device.ts';
import { useUser } from '#client/lib/session/session.ts';
import { Button } from '#client/ui/button.tsx';
import { Check } from '#client/ui/form/choices.tsx';
import { Hint, LoadError, Row, RowName, Rows, Stack } from '#client/ui/stack.tsx';

const HINTS: Readonly<Record<PushSupport, string>> = {
  ready: 'As a notification. It has the date and a question, and nothing of your logs.',
  denied: "This browser blocks notifications of this site. Allow them in the site's settings, beside the address.",
  install: 'First add Hustle Forge to your home screen: tap Share, then Add to Home Screen. Then turn this on there.',
  unsupported: 'This browser shows no notifications of sites.',
};

type ReminderDevicesProps = {
  isRead: boolean;
  /** Called with whether any device is left. */
  onChange: (isOn: boolean) => void;
};

export function ReminderDevices({ isRead, onChange }: ReminderDevicesProps) {
  const supabase = useSupabase();
  const data = useData();
  const { id: userId } = useUser();
  const [state, setState] = useState({ isBusy: false, text: '' });
  const devices = useQuery({
    queryKey: ['push-devices', userId],
    queryFn: async ({ signal }) => {
      const { data: rows } = await data
        .from('push_subscriptions')
        .select('id, device, created_at')
        .eq('user_id', userId)
        .order('created_at')
        .abortSignal(signal)
        .throwOnError();
      return rows;
    },
    staleTime: 0,
    networkMode: 'always',
  });
  const support = pushSupport();
  const own = storedDevice(userId)?.id;
  const rows = devices.data ?? [];
  const isOn = support === 'ready' && Notification.permission === 'granted' && rows.some(({ id }) => id === own);
  const others = rows.filter(({ id }) => id !== own);

  const run = async (work: () => Promise<string>): Promise<void> => {
    setState({ isBusy: true, text: '' });
    const text = await work().catch(({ message }: Error) => message);
    await devices.refetch();
    setState({ isBusy: false, text });
  };
  const remove = async (id: string): Promise<void> => {
    await data.from('push_subscriptions').delete().eq('user_id', userId).eq('id', id).throwOnError();
    if (rows.every((row) => row.id === id)) onChange(false);
  };
  const turn = (on: boolean): Promise<void> =>
    run(async () => {
      if (on) {
        await turnOn(supabase, userId);
        onChange(true);
        return 'This device shows your reminders.';
      }
      if (own !== undefined) await remove(own);
      await turnOff(userId);
      return '';
    });

  if (devices.isError) return <LoadError request={devices}>Couldn't load your devices.</LoadError>;
  return (
    <Stack gap="s2">
      <Check
        label="On this device"
        hint={HINTS[support]}
        checked={isOn}
        disabled={!isRead || !devices.data || state.isBusy || support !== 'ready'}
        onChange={(on) => void turn(on)}
      />
      <Hint role="status">{state.text}</Hint>
      {others.length > 0 && (
        <Rows aria-label="Other devices">
          {others.map(({ id, device, created_at: since }) => (
            <Row key={id}>
              <div>
                <RowName>{device}</RowName>
                <Hint>Since {dateLabel(dayOf(new Date(since)))}</Hint>
              </div>
              <Button
                tone="text"
                aria-label={`Remove ${device}`}
                disabled={state.isBusy}
                onClick={() => void run(() => remove(id).then(() => `Removed: ${device}.`, couldNotRemove))}
              >
                Remove
              </Button>
            </Row>
          ))}
        </Rows>
      )}
    </Stack>
  );
}

const couldNotRemove = (): string => "Couldn't remove this device. Please try again.";
