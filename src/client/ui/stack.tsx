/** Layout primitives of pages, cards and dialogs: a column, a row of buttons, a list of rows, muted text. */
import type { ComponentProps, ReactNode } from 'react';
import { Button } from './button.tsx';
import styles from './stack.module.css';

type StackProps = Omit<ComponentProps<'div'>, 'className'> & {
  /** A spacing token of `styles/tokens.css`: `s1` is 4 px. */
  gap?: 's1' | 's2' | 's3' | 's4';
  /** The space above the column. */
  above?: 's2' | 's4' | 's6';
  /** Stretches the children to the width of the column. Otherwise a button is as wide as its label. */
  stretch?: boolean;
};

export const Stack = ({ gap, above, stretch, ...rest }: StackProps) => (
  <div {...rest} className={styles.stack} data-gap={gap} data-above={above} data-stretch={stretch || undefined} />
);

/** Buttons that share a line where they fit. */
export const Buttons = ({ children }: { children: ReactNode }) => <div className={styles.buttons}>{children}</div>;

/** A list with a hairline between its rows. */
export const Rows = (props: Omit<ComponentProps<'ul'>, 'className'>) => <ul {...props} className={styles.rows} />;

/** `children`: the text of the row, then its buttons. */
export const Row = ({ children }: { children: ReactNode }) => <li className={styles.row}>{children}</li>;

/** The name of a row, above its hint. */
export const RowName = ({ children }: { children: ReactNode }) => <p className={styles.name}>{children}</p>;

/** A muted paragraph in the normal size. */
export const Quiet = (props: Omit<ComponentProps<'p'>, 'className'>) => <p {...props} className={styles.quiet} />;

/** A small muted paragraph. */
export const Hint = (props: Omit<ComponentProps<'p'>, 'className'>) => <p {...props} className={styles.hint} />;

/** The members of a TanStack query that `LoadError` needs. */
type Request = { refetch: () => Promise<unknown>; isFetching: boolean };

/** Replaces content that could not be loaded: a message (`children`) and a retry button. */
export const LoadError = ({ request, children }: { request: Request; children: ReactNode }) => (
  <Stack gap="s3">
    <Quiet role="alert">{children}</Quiet>
    <Button onClick={() => void request.refetch()} busy={request.isFetching} busyLabel="Loading...">
      Try again
    </Button>
  </Stack>
);
