/** The product's buttons: one primary action a screen, plain ones beside it, icons with a name. */
import type { ComponentProps, ReactNode } from 'react';
import styles from './button.module.css';

type ButtonProps = ComponentProps<'button'> & {
  tone?: 'primary' | 'plain' | 'text';
  /** While true the button cannot be pressed, shows `busyLabel` and keeps the width of both labels. */
  busy?: boolean;
  busyLabel?: string;
  /** Cannot be pressed for a while, and keeps the focus as a busy one does. */
  softDisabled?: boolean;
};

export function Button({
  tone = 'plain',
  busy = false,
  busyLabel,
  softDisabled = false,
  disabled,
  className,
  children,
  ...rest
}: ButtonProps) {
  return (
    <button
      type="button"
      {...rest}
      className={[styles.button, styles[tone], className].filter(Boolean).join(' ')}
      // A busy button stays focusable: focus that falls to the page start would lose a keyboard user's place.
      disabled={disabled ?? false}
      aria-disabled={busy || softDisabled || undefined}
      aria-busy={busy || undefined}
      onClick={(event) => {
        if (busy || softDisabled) event.preventDefault();
        else rest.onClick?.(event);
      }}
    >
      {busyLabel === undefined ? children : <Labels busy={busy} label={children} busyLabel={busyLabel} />}
    </button>
  );
}

/** Both labels lie in one grid cell, so that the wider one sets the width. */
function Labels({ busy, label, busyLabel }: { busy: boolean; label: ReactNode; busyLabel: string }) {
  return (
    <span className={styles.labels}>
      <span className={styles.label} data-shown={!busy} aria-hidden={busy}>
        {label}
      </span>
      <span className={styles.label} data-shown={busy} aria-hidden={!busy}>
        {busyLabel}
      </span>
    </span>
  );
}

type IconButtonProps = Omit<ComponentProps<'button'>, 'children'> & {
  /** What the button does, in words: its accessible name and its tooltip. */
  label: string;
  children: ReactNode;
};

export function IconButton({ label, className, children, ...rest }: IconButtonProps) {
  return (
    <button
      type="button"
      aria-label={label}
      title={label}
      {...rest}
      className={[styles.icon, className].filter(Boolean).join(' ')}
    >
      {children}
    </button>
  );
}
