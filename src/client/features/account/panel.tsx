/** Parts of the panels of the security section: a step, a button that copies, the question before a change. */
import { useEffect, useRef, useState, type ReactNode } from 'react';
import { useFocusRestore } from '#client/lib/hooks/use-focus-restore.ts';
import { Button } from '#client/ui/button.tsx';
import { useSubmit } from '#client/lib/hooks/use-submit.ts';
import { Dialog } from '#client/ui/dialog.tsx';
import { Form, SubmitButton } from '#client/ui/form/form.tsx';
import { Buttons, Stack } from '#client/ui/stack.tsx';
import { toOutcome, useRecentSignIn, type Change } from './prove-identity.tsx';
import styles from './security.module.css';

export type PanelProps = {
  onClose: () => void;
  /** Hides the button that closes the panel, while closing it would lose something. */
  setClosable: (isClosable: boolean) => void;
};

/**
 * One step within a panel. It takes the focus if the focused button has disappeared, with a previous step or with a
 * removed row of a list.
 */
export function PanelView({ title, children }: { title?: string | undefined; children: ReactNode }) {
  const { fallbackRef, areaProps } = useFocusRestore();
  const view = useRef<HTMLDivElement>(null);
  useEffect(() => {
    // A first field with the focus keeps it, and so does the button that has opened the panel.
    // A view that begins within the window does not scroll: its heading would leave the window.
    const { current } = view;
    const { top } = current!.getBoundingClientRect();
    if (document.activeElement === document.body) current?.focus({ preventScroll: top >= 0 && top < innerHeight });
  }, []);
  return (
    <Stack
      ref={(element) => {
        view.current = element;
        fallbackRef(element);
      }}
      tabIndex={-1}
      role="group"
      aria-label={title}
      {...areaProps}
    >
      {title && <h3 className={styles.title}>{title}</h3>}
      {children}
    </Stack>
  );
}

/** Copies a text. A status beside the button tells whether it worked. */
export function CopyButton({ text, label }: { text: string; label: string }) {
  const [result, setResult] = useState<'copied' | 'failed' | null>(null);
  const copy = (): void =>
    void navigator.clipboard.writeText(text).then(
      () => setResult('copied'),
      () => setResult('failed'),
    );
  return (
    <span>
      <Button onClick={copy}>{label}</Button>
      <span role="status" className={styles.copied}>
        {result === 'copied' && 'Copied'}
        {result === 'failed' && "Couldn't copy. Select the text instead."}
      </span>
    </span>
  );
}

type ConfirmChangeDialogProps<Data> = {
  title: ReactNode;
  label?: string;
  busyLabel?: string;
  children: ReactNode;
  change: Change<Data>;
  /** Texts of errors, by their code. */
  texts?: Readonly<Record<string, string>>;
  /** The error's code if the thing is gone already: another tab removed it, or the first answer was lost. */
  goneCode?: string;
  /** Called after a change that succeeded. The data is null if the thing was gone already. */
  onChanged: (data: Data | null) => Promise<void> | void;
  onClose: () => void;
};

/** Asks for a confirmation, and a proof if needed, before a sign-in method, token or code is removed or replaced. */
export function ConfirmChangeDialog<Data>({
  title,
  label = 'Remove',
  busyLabel = 'Removing...',
  children,
  change,
  texts,
  goneCode,
  onChanged,
  onClose,
}: ConfirmChangeDialogProps<Data>) {
  const { applyChange, dialog } = useRecentSignIn();
  const { outcome, busy, onSubmit } = useSubmit(async () => {
    const { data, error } = await applyChange(change);
    // Two missing codes are no match: an error without an answer has no code, and some callers have no `goneCode`.
    const isGone = error !== null && error !== 'cancelled' && goneCode !== undefined && error.code === goneCode;
    if (error && !isGone) return toOutcome(error, texts);
    await onChanged(data ?? null);
    return null;
  });
  return (
    <>
      <Dialog title={title} onClose={onClose}>
        <Form layout="dialog" outcome={outcome} onSubmit={onSubmit}>
          {children}
          <Buttons>
            <SubmitButton busy={busy} busyLabel={busyLabel} data-autofocus>
              {label}
            </SubmitButton>
            <Button tone="text" onClick={onClose}>
              Cancel
            </Button>
          </Buttons>
        </Form>
      </Dialog>
      {dialog}
    </>
  );
}
