/** The cards of the evening reminder and of the weekly digest (docs/specification/habit.md 2 and 4). */
import { useId, useState } from 'react';
import { clockTime } from '#domain/day/clock-time.ts';
import { WEEKDAYS, dateLabel, dayOf } from '#domain/day/day.ts';
import { afterTime, timeZoneName } from '#domain/day/time-zone-name.ts';
import { DEFAULT_WORKDAYS } from '#domain/day/time-off.ts';
import type { ClientConfig } from '#domain/client-config.ts';
import type { SentReminder } from '#domain/habit/push-message.ts';
import { EARLIEST_REMINDER, LATEST_REMINDER, type Preferences } from '#domain/habit/preferences.ts';
import { useClientConfig, useSupabase } from '#client/lib/api/supabase.ts';
import { chosenWeekStart } from '#client/lib/session/browser-preferences.ts';
import { useSession, useUser } from '#client/lib/session/session.ts';
import { usePremium } from '#client/lib/plan/premium.ts';
import { Button } from '#client/ui/button.tsx';
import { Check } from '#client/ui/form/choices.tsx';
import { FoldedSection } from '#client/ui/page/folded-section.tsx';
import { Buttons, Hint, Stack, LoadError, Row, RowName, Rows } from '#client/ui/stack.tsx';
import { pluralize, PreferenceFields } from './settings-parts.tsx';
import styles from './settings.module.css';
import { useChangePreferences, type ChangeablePreferences } from './use-change-preferences.ts';
import { useQuery } from '@tanstack/react-query';
import { useData } from '#client/lib/api/data-client.ts';
import {
  PushDeviceError,
  pushSupport,
  storedDevice,
  turnOff,
  turnOn,
  type PushSupport,
} from '#client/lib/api/push-device.ts';

/** The reminder's time, in minutes after midnight, when reminders are turned on for the first time. */
const PROPOSED_REMINDER = 18 * 60;
const STEP_MINUTES = 30;

/** The cards Reminder and Weekly digest, as far as the server can send them. */
export function ReminderCards() {
  const { features } = useClientConfig();
  const state = useChangePreferences();
  return (
    <>
      {(features.mail || hasPush(features)) && <ReminderCard {...state} />}
      {features.mail && <DigestCard {...state} />}
    </>
  );
}

/** Notifications need the service worker. */
const hasPush = ({ push, serviceWorker }: ClientConfig['features']): boolean => push && serviceWorker;

/** The zone of this browser; null in one that hides it. */
const browserTimeZone = (): string | null => new Intl.DateTimeFormat().resolvedOptions().timeZone ?? null;

const isElsewhere = (timeZone: string | null): boolean => {
  const here = browserTimeZone();
  // A zone may have several identifiers, such as `Asia/Calcutta` and `Asia/Kolkata`.
  return timeZone !== null && here !== null && timeZoneName(here).name !== timeZoneName(timeZone).name;
};

/** For example `Mon, Wed, Fri`, `Monday to Friday` or `every day`. */
function weekdaysText(days: readonly number[]): string {
  if (days.length === WEEKDAYS.length) return 'every day';
  if (days.length === 0) return 'on no day';
  if (days.join() === DEFAULT_WORKDAYS.join()) return 'Monday to Friday';
  return days.map((day) => WEEKDAYS[day]!.slice(0, 3)).join(', ');
}

function ReminderCard({ preferences, isRead, request, change }: ChangeablePreferences) {
  const { remind_by_mail: byMail, remind_by_push: byPush, remind_at: remindAt, time_zone: timeZone } = preferences;
  const isAnyOn = byMail || byPush;
  const { features } = useClientConfig();
  const { email } = useUser();
  const turn = (way: Partial<Preferences>, on: boolean): void =>
    change(on ? { ...way, remind_at: remindAt ?? PROPOSED_REMINDER, time_zone: timeZone ?? browserTimeZone() } : way);
  return (
    <FoldedSection
      title="Reminder"
      summary={isAnyOn ? `${timeText(remindAt ?? PROPOSED_REMINDER)}, ${weekdaysText(preferences.workdays)}` : 'Off'}
      isAsking={isAnyOn && isElsewhere(timeZone)}
    >
      <PreferenceFields
        intro={
          <>
            A message in the evening asks what you did. None comes if the day has a log already.
            {features.mailReplies && ' You can answer the mail by replying to it.'}
          </>
        }
        request={request}
      >
        {features.mail && (
          <Check
            label="Remind me by mail"
            hint={email ? `To ${email}` : NO_ADDRESS}
            checked={byMail}
            disabled={!isRead || (!email && !byMail)}
            onChange={(on) => turn({ remind_by_mail: on }, on)}
          />
        )}
        {hasPush(features) && <ReminderDevices isRead={isRead} onChange={(on) => turn({ remind_by_push: on }, on)} />}
        {isAnyOn && (
          <>
            <TimeField
              value={remindAt ?? PROPOSED_REMINDER}
              timeZone={timeZone}
              onChoose={(minutes) => change({ remind_at: minutes })}
            />
            <Weekdays chosen={preferences.workdays} onChoose={(days) => change({ workdays: days })} />
            <TimeZoneQuestion preferences={preferences} onChoose={(zone) => change({ time_zone: zone })} />
          </>
        )}
        {((features.mail && email) || byPush) && <SendNow />}
      </PreferenceFields>
    </FoldedSection>
  );
}

const NO_ADDRESS = 'Add an email address in your profile first.';

const timeText = (minutes: number): string => clockTime(new Date(2000, 0, 1, Math.floor(minutes / 60), minutes % 60));

type TimeFieldProps = { value: number; timeZone: string | null; onChoose: (minutes: number) => void };

function TimeField({ value, timeZone, onChoose }: TimeFieldProps) {
  const id = useId();
  const times = Array.from(
    { length: (LATEST_REMINDER - EARLIEST_REMINDER) / STEP_MINUTES + 1 },
    (_, index) => EARLIEST_REMINDER + index * STEP_MINUTES,
  );
  // Another client may have chosen any minute.
  const shown = times.includes(value) ? times : [...times, value].sort((a, b) => a - b);
  return (
    <div className={styles.line}>
      <label htmlFor={id}>At</label>
      <select
        id={id}
        className={styles.select}
        value={value}
        onChange={({ currentTarget }) => onChoose(Number(currentTarget.value))}
      >
        {shown.map((minutes) => (
          <option key={minutes} value={minutes}>
            {timeText(minutes)}
          </option>
        ))}
      </select>
      {timeZone !== null && <span>{afterTime(timeZone)}</span>}
    </div>
  );
}

function Weekdays({ chosen, onChoose }: { chosen: readonly number[]; onChoose: (days: number[]) => void }) {
  const first = WEEKDAYS.indexOf(chosenWeekStart());
  const days = Array.from({ length: WEEKDAYS.length }, (_, index) => (first + index) % WEEKDAYS.length);
  return (
    <fieldset className={styles.days}>
      <legend className={styles.legend}>On these days</legend>
      {days.map((day) => (
        <label key={day} className={styles.day}>
          <input
            type="checkbox"
            className="unseen"
            aria-label={WEEKDAYS[day]}
            checked={chosen.includes(day)}
            onChange={({ currentTarget }) =>
              onChoose(
                days
                  .filter((other) => (other === day ? currentTarget.checked : chosen.includes(other)))
                  .sort((a, b) => a - b),
              )
            }
          />
          <span aria-hidden="true">{WEEKDAYS[day]!.slice(0, 3)}</span>
        </label>
      ))}
    </fieldset>
  );
}

type TimeZoneProps = { preferences: Preferences; onChoose: (timeZone: string) => void };

/** Shown if this browser is in another zone than the reminder: the user may be on a journey, or have moved. */
function TimeZoneQuestion({ preferences: { time_zone: timeZone, remind_at: remindAt }, onChoose }: TimeZoneProps) {
  const [isKept, setKept] = useState(false);
  const here = browserTimeZone();
  if (timeZone === null || here === null || !isElsewhere(timeZone) || isKept) return null;
  const time = timeText(remindAt ?? PROPOSED_REMINDER);
  const { name, isPlace } = timeZoneName(here);
  return (
    <Stack gap="s2" role="group" aria-label="Time zone">
      <p>
        {isPlace
          ? `You seem to be in ${name} now. Remind you at ${time} there?`
          : `Your clock seems to be at ${name} now. Remind you at ${time} ${name}?`}
      </p>
      <Buttons>
        <Button onClick={() => onChoose(here)}>
          {time} {afterTime(here)}
        </Button>
        <Button tone="text" onClick={() => setKept(true)}>
          Keep {timeZoneName(timeZone).name}
        </Button>
      </Buttons>
    </Stack>
  );
}

function SendNow() {
  const { callFunction } = useSupabase();
  const [state, setState] = useState<{ busy: boolean; text: string }>({ busy: false, text: '' });
  const send = async (): Promise<void> => {
    setState({ busy: true, text: '' });
    const answer = await callFunction('send-reminder', {}).catch(() => null);
    const text = answer?.success
      ? sentText(answer as unknown as SentReminder)
      : (answer?.error ?? "Couldn't send it. Please try again.");
    setState({ busy: false, text });
  };
  return (
    <Stack gap="s2">
      <Button onClick={() => void send()} busy={state.busy} busyLabel="Sending...">
        Send me one now
      </Button>
      <Hint role="status">{state.text}</Hint>
    </Stack>
  );
}

/** `Sent to ada@example.com and 2 devices.` */
function sentText({ email, devices }: SentReminder): string {
  const places = [...(email === null ? [] : [email]), ...(devices > 0 ? [pluralize(devices, 'device')] : [])];
  return `Sent to ${places.join(' and ')}.`;
}

function DigestCard({ preferences, isRead, request, change }: ChangeablePreferences) {
  const { digest: isOn, digest_review: hasReview, time_zone: timeZone } = preferences;
  const { email } = useUser();
  const { profile } = useSession();
  const { features } = useClientConfig();
  const premium = usePremium();
  const isAllowed = profile?.ai_consent === true;
  return (
    <FoldedSection title="Weekly digest" summary={isOn ? 'On Fridays' : 'Off'}>
      <PreferenceFields
        intro={
          <>
            A mail on Friday evening with your week: the workdays you accounted for and what you did. Closers also get
            their scores.
          </>
        }
        request={request}
      >
        <Check
          label="Send me the digest"
          hint={email ? undefined : NO_ADDRESS}
          checked={isOn}
          disabled={!isRead || (!email && !isOn)}
          onChange={(on) => change(on ? { digest: true, time_zone: timeZone ?? browserTimeZone() } : { digest: false })}
        />
        {isOn && features.coach && premium === true && (
          <Check
            label="With the coach's review of the week"
            hint={isAllowed ? undefined : 'Allow the coach to read your logs in your profile first.'}
            checked={hasReview && isAllowed}
            disabled={!isRead || !isAllowed}
            onChange={(on) => change({ digest_review: on })}
          />
        )}
      </PreferenceFields>
    </FoldedSection>
  );
}

const HINTS: Readonly<Record<PushSupport, string>> = {
  ready: 'A notification with the date and a question. Nothing from your logs is in it.',
  denied: "This browser blocks notifications from this site. Allow them in the site's settings, next to the address.",
  install: 'First add Hustle Forge to your home screen: tap Share, then Add to Home Screen. Then turn this on there.',
  unsupported: 'This browser cannot show notifications from sites.',
};

type ReminderDevicesProps = {
  isRead: boolean;
  /** Called with true once this device is on, and with false once the last device is removed. */
  onChange: (isOn: boolean) => void;
};

/** The switch "On this device" of the reminder, and the user's other devices (docs/specification/habit.md 6). */
function ReminderDevices({ isRead, onChange }: ReminderDevicesProps) {
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

  const run = async (doing: string, work: () => Promise<string>): Promise<void> => {
    setState({ isBusy: true, text: '' });
    const text = await work().catch(
      (error) => (error instanceof PushDeviceError && error.message) || `Couldn't ${doing}. Please try again.`,
    );
    await devices.refetch();
    setState({ isBusy: false, text });
  };
  const remove = async (id: string): Promise<void> => {
    await data.from('push_subscriptions').delete().eq('user_id', userId).eq('id', id).throwOnError();
    if (rows.every((row) => row.id === id)) onChange(false);
  };
  const turn = (on: boolean): Promise<void> =>
    run(on ? 'turn this on' : 'turn this off', async () => {
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
                onClick={() => void run('remove this device', () => remove(id).then(() => `Removed: ${device}.`))}
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
