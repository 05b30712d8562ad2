import type { ComponentProps } from 'react';
import styles from './disclosure.module.css';

/** What sums up a `details` element, with a chevron. */
export const Summary = (props: Omit<ComponentProps<'summary'>, 'className'>) => (
  <summary {...props} className={styles.summary} />
);
