/** The cards of the day: when it ends, time off, and what an empty page asks (docs/specification/time-off.md). */
import { useState } from 'react';
import { clockTime } from '#domain/day/clock-time.ts';
import { dateRangeLabel } from '#domain/day/date-range.ts';
import { dateLabel, isDay } from '#domain/day/day.ts';
import { checkTimeOff, MAX_TIME_OFF_RANGES, type TimeOff } from '#domain/day/time-off.ts';
import { promptOf } from '#domain/habit/prompts.ts';
import { useToday } from '#client/lib/hooks/use-clock.ts';
import { useFocusRestore } from '#client/lib/hooks/use-focus-restore.ts';
import { textOf, useSubmit } from '#client/lib/hooks/use-submit.ts';
import { useTimeOff, type TimeOffRange, type TimeOffState } from '#client/ui/use-time-off.ts';
import { Button } from '#client/ui/button.tsx';
import { Choices } from '#client/ui/form/choices.tsx';
import { Field, Form, SubmitButton } from '#client/ui/form/form.tsx';
import { FoldedSection } from '#client/ui/page/folded-section.tsx';
import { Buttons, Quiet, Row, RowName, Rows, Stack } from '#client/ui/stack.tsx';
import { useToast } from '#client/ui/toast.tsx';
import { PreferenceFields } from './settings-parts.tsx';
import { useChangePreferences } from './use-change-preferences.ts';

/** The number of ranges that the card lists. A button shows the others. */
const SHOWN_RANGES = 5;

export function DayCard() {
  const { preferences, isRead, request, change } = useChangePreferences();
  const threeOClock = clockTime(new Date(2026, 0, 1, 3));
  return (
    <FoldedSection title="Day" summary={preferences.day_ends_at === 3 ? `Ends at ${threeOClock}` : 'Ends at midnight'}>
      <PreferenceFields
        intro="Choose when your day ends. Until then the journal opens on the day before."
        request={request}
      >
        <Choices
          legend="Day"
          name="dayEnd"
          choices={[
            { value: '0', label: 'At midnight', note: '(default)' },
            { value: '3', label: `At ${threeOClock}`, hint: 'If you often work past midnight' },
          ]}
          chosen={preferences.day_ends_at === 3 ? '3' : '0'}
          onChoose={(hour) => change({ day_ends_at: Number(hour) })}
          disabled={!isRead}
        />
      </PreferenceFields>
    </FoldedSection>
  );
}

export function PromptsCard() {
  const { preferences, isRead, request, change } = useChangePreferences();
  const today = useToday();
  return (
    <FoldedSection title="Prompts" summary={preferences.prompts ? 'On' : 'Off'}>
      <PreferenceFields intro="Choose what today's page asks while it is empty, from noon on." request={request}>
        <Choices
          legend="Prompts"
          name="prompts"
          choices={[
            { value: 'off', label: 'What have you done today?', note: '(default)' },
            { value: 'on', label: 'Another question each day', hint: `Today: ${promptOf(today)}` },
          ]}
          chosen={preferences.prompts ? 'on' : 'off'}
          onChoose={(choice) => change({ prompts: choice === 'on' })}
          disabled={!isRead}
        />
      </PreferenceFields>
    </FoldedSection>
  );
}

const rangeLabel = ({ first_day: first, last_day: last }: TimeOff): string => dateRangeLabel(first, last);

export function TimeOffCard() {
  const timeOff = useTimeOff();
  const { fallbackRef, areaProps } = useFocusRestore();
  return (
    <FoldedSection title="Time off" summary={<TimeOffSummary {...timeOff} />}>
      <Stack {...areaProps}>
        <Quiet ref={fallbackRef} tabIndex={-1}>
          Days off count neither as worked nor as missed. You can still write on them.
        </Quiet>
        {timeOff.isFailed && (
          <>
            <Quiet role="alert">Couldn't load your time off. Nothing is lost.</Quiet>
            <Button onClick={timeOff.refetch}>Try again</Button>
          </>
        )}
        {timeOff.isRead && <Ranges {...timeOff} />}
        <AddRange {...timeOff} />
      </Stack>
    </FoldedSection>
  );
}

/** The range of today, or else the next one. */
function TimeOffSummary({ ranges, isRead }: TimeOffState) {
  const today = useToday();
  if (!isRead) return null;
  // `ranges` are newest first, so the last match is the range of today or the next one.
  const next = ranges.findLast(({ last_day: last }) => last >= today);
  if (!next) return 'None planned';
  return next.first_day <= today ? `Until ${dateLabel(next.last_day)}` : rangeLabel(next);
}

function Ranges({ ranges, add, remove }: TimeOffState) {
  const toast = useToast();
  const [hasAll, setAll] = useState(false);
  const shown = hasAll ? ranges : ranges.slice(0, SHOWN_RANGES);
  if (ranges.length === 0) return null;

  const onRemove = async (range: TimeOffRange): Promise<void> => {
    const label = rangeLabel(range);
    const fail = (text: string) => toast({ kind: 'error', topic: 'time-off', text });
    if (!(await remove(range.id))) return fail(`Couldn't remove ${label}. Please try again.`);
    const undo = async (): Promise<void> => {
      if (!(await add(range.first_day, range.last_day))) fail(`Couldn't bring back ${label}. Add it again.`);
    };
    toast({
      kind: 'info',
      topic: 'time-off',
      text: `Removed ${label}.`,
      action: { label: 'Undo', run: () => void undo() },
    });
  };
  return (
    <>
      <Rows aria-label="Your time off">
        {shown.map((range) => (
          <Row key={range.id}>
            <RowName>{rangeLabel(range)}</RowName>
            <Buttons>
              <Button onClick={() => void onRemove(range)}>
                Remove<span className="unseen"> {rangeLabel(range)}</span>
              </Button>
            </Buttons>
          </Row>
        ))}
      </Rows>
      {shown.length < ranges.length && (
        <Button tone="text" onClick={() => setAll(true)}>
          Show all {ranges.length}
        </Button>
      )}
    </>
  );
}

const PROBLEMS = {
  'ends-early': 'The last day is before the first.',
  'too-long': 'A range has at most ten years. Add it in parts.',
} as const;

function AddRange({ ranges, add }: TimeOffState) {
  const today = useToday();
  const [first, setFirst] = useState('');
  const [last, setLast] = useState('');
  const { outcome, busy, onSubmit, errorOf } = useSubmit(async (form) => {
    const [from, to] = [textOf(form, 'first'), textOf(form, 'last') || textOf(form, 'first')];
    if (!isDay(from)) return { kind: 'error', text: 'Enter a date.', field: 'first' };
    if (!isDay(to)) return { kind: 'error', text: 'Enter a date.', field: 'last' };
    const problem = checkTimeOff(from, to);
    if (problem) return { kind: 'error', text: PROBLEMS[problem], field: 'last' };
    if (ranges.length >= MAX_TIME_OFF_RANGES)
      return { kind: 'error', text: `An account has at most ${MAX_TIME_OFF_RANGES} ranges. Remove one first.` };
    if (!(await add(from, to))) return { kind: 'error', text: "Couldn't add this time off. Please try again." };
    setFirst('');
    setLast('');
    return { kind: 'success', text: `Added ${rangeLabel({ first_day: from, last_day: to })}.` };
  });
  return (
    <Form outcome={outcome} onSubmit={onSubmit} noValidate gap="s3">
      <Field
        label="First day"
        name="first"
        type="date"
        min="0001-01-01"
        max="9999-12-31"
        value={first}
        onChange={({ currentTarget }) => setFirst(currentTarget.value)}
        placeholder={today}
        error={errorOf('first')}
      />
      <Field
        label="Last day"
        hint="Leave it empty for a single day"
        name="last"
        type="date"
        min={first || '0001-01-01'}
        max="9999-12-31"
        value={last}
        onChange={({ currentTarget }) => setLast(currentTarget.value)}
        error={errorOf('last')}
      />
      <SubmitButton tone="plain" busy={busy} busyLabel="Adding...">
        Add time off
      </SubmitButton>
    </Form>
  );
}
