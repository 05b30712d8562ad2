/** Buttons. The tone `primary` is for the main action of a form, a card or a dialog. */
import type { ComponentProps, ReactNode } from 'react';
import styles from './button.module.css';

type ButtonProps = ComponentProps<'button'> & {
  tone?: 'primary' | 'plain' | 'text';
  /** Ignores clicks and shows `busyLabel`. The button has the width of the wider label. */
  busy?: boolean;
  busyLabel?: string;
  /** Ignores clicks but stays focusable, unlike `disabled`. */
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
      // A busy button stays focusable: disabling it would move the focus of keyboard users to the start of the page.
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

/** Both labels share one grid cell, so that the wider one sets the width. */
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

type ButtonLinkProps = ComponentProps<'a'> & { tone?: 'primary' | 'plain' | 'text' };

/** A link to another page that looks like a button. */
export const ButtonLink = ({ tone = 'plain', className, children, ...link }: ButtonLinkProps) => (
  <a {...link} className={[styles.button, styles[tone], className].filter(Boolean).join(' ')}>
    {children}
  </a>
);

/** A button that looks like a link, within a sentence. */
export const InlineButton = (props: Omit<ComponentProps<'button'>, 'className'>) => (
  <button type="button" {...props} className={styles.inline} />
);

type IconButtonProps = Omit<ComponentProps<'button'>, 'children'> & {
  /** The accessible name and the tooltip. */
  label: string;
  /** Ignores clicks, as a busy `Button` does. */
  busy?: boolean;
  children: ReactNode;
};

export function IconButton({ label, busy = false, className, children, ...rest }: IconButtonProps) {
  return (
    <button
      type="button"
      aria-label={label}
      title={label}
      aria-disabled={busy || undefined}
      aria-busy={busy || undefined}
      {...rest}
      onClick={busy ? undefined : rest.onClick}
      className={[styles.icon, className].filter(Boolean).join(' ')}
    >
      {children}
    </button>
  );
}
