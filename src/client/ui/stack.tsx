/** The parts that pages, cards and dialogs are laid out with: a column, a row of buttons, a list of rows, quiet text. */
import type { ComponentProps, ReactNode } from 'react';
import { Button } from './button.tsx';
import styles from './stack.module.css';

/** A space of the tokens: `s1` is 4 px. */
type StackProps = Omit<ComponentProps<'div'>, 'className'> & {
  gap?: 's1' | 's2' | 's3' | 's4';
  /** The space above the column. */
  above?: 's2' | 's4' | 's6';
  /** Gives everything in the column its width. Otherwise a button is as wide as its label. */
  stretch?: boolean;
};

/** A column. */
export const Stack = ({ gap, above, stretch, ...rest }: StackProps) => (
  <div {...rest} className={styles.stack} data-gap={gap} data-above={above} data-stretch={stretch || undefined} />
);

/** Buttons that share a line where they fit. */
export const Buttons = ({ children }: { children: ReactNode }) => <div className={styles.buttons}>{children}</div>;

/** A list with a hairline between its rows. */
export const Rows = (props: Omit<ComponentProps<'ul'>, 'className'>) => <ul {...props} className={styles.rows} />;

/** `children`: what the row says, and the buttons at its end. */
export const Row = ({ children }: { children: ReactNode }) => <li className={styles.row}>{children}</li>;

/** The name of a row, above its hint. */
export const RowName = ({ children }: { children: ReactNode }) => <p className={styles.name}>{children}</p>;

/** A quiet paragraph of the size of the text. */
export const Quiet = (props: Omit<ComponentProps<'p'>, 'className'>) => <p {...props} className={styles.quiet} />;

/** A small quiet paragraph. */
export const Hint = (props: Omit<ComponentProps<'p'>, 'className'>) => <p {...props} className={styles.hint} />;

/** A query of TanStack, or what looks like one. */
type Request = { refetch: () => Promise<unknown>; isFetching: boolean };

/** Shown in place of what could not be loaded. `children` say what it is, and that nothing is lost. */
export const LoadError = ({ request, children }: { request: Request; children: ReactNode }) => (
  <Stack gap="s3">
    <Quiet role="alert">{children}</Quiet>
    <Button onClick={() => void request.refetch()} busy={request.isFetching} busyLabel="Loading...">
      Try again
    </Button>
  </Stack>
);
