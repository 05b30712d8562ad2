/** Parts of the cards of the settings. */
import type { ComponentProps, ReactNode } from 'react';
import { PREMIUM_PRICE } from '#domain/plan/plan.ts';
import type { UpgradeFeature } from '#domain/plan/upgrade.ts';
import { useFocusRestore } from '#client/lib/hooks/use-focus-restore.ts';
import { ProgressBar } from '#client/ui/progress-bar.tsx';
import { Hint, LoadError, Quiet, Stack } from '#client/ui/stack.tsx';
import type { PreferencesState } from '#client/ui/use-preferences.ts';
import { LockedCrown, UpgradeButton } from '#client/ui/plan/upgrade-button.tsx';
import type { Progress } from './export/read-entries.ts';
import styles from './settings.module.css';

/** The upgrade prompt under a locked setting. */
export function UpgradePrompt({ feature, id, text }: { feature: UpgradeFeature; id: string; text: string }) {
  return (
    <div className={styles.offer}>
      <p id={id} className={styles.promptText}>
        <LockedCrown aria-hidden="true" />
        <span>
          {text} <span className={styles.price}>{PREMIUM_PRICE.label}</span>
        </span>
      </p>
      <UpgradeButton feature={feature} />
    </div>
  );
}

type PreferenceFieldsProps = Pick<PreferencesState, 'request'> & { intro: ReactNode; children: ReactNode };

/** The content of a card that changes the preferences. */
export function PreferenceFields({ intro, request, children }: PreferenceFieldsProps) {
  const { fallbackRef, areaProps } = useFocusRestore();
  return (
    <Stack {...areaProps}>
      <Quiet ref={fallbackRef} tabIndex={-1}>
        {intro}
      </Quiet>
      {/* Not `isError`, which another attempt resets: the button would disappear under the pointer. */}
      {request.isFetched && !request.data && <LoadError request={request}>Couldn't load this setting.</LoadError>}
      {children}
    </Stack>
  );
}

type ProgressLineProps = { label: string; progress: Progress | null; unit: string };

/** A progress bar with its value as text: `2,140 of 3,650 logs`. */
export function ProgressLine({ label, progress, unit }: ProgressLineProps) {
  const text = progress
    ? `${progress.done.toLocaleString('en-US')} of ${progress.total.toLocaleString('en-US')} ${unit}`
    : 'Loading...';
  return (
    <CaptionedProgress label={label} max={progress?.total} value={progress?.done}>
      {text}
    </CaptionedProgress>
  );
}

export const CaptionedProgress = ({
  children,
  ...bar
}: ComponentProps<typeof ProgressBar> & { children: ReactNode }) => (
  <div className={styles.progress}>
    <ProgressBar {...bar} />
    <Hint>{children}</Hint>
  </div>
);

/** `1 day`, `3,650 days`, `2 entries`. */
export const pluralize = (count: number, noun: string, plural = `${noun}s`): string =>
  `${count.toLocaleString('en-US')} ${count === 1 ? noun : plural}`;
