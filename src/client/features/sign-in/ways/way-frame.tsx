/** The frames of a way to sign in: a page of its own, or the overlay of an expired session. */
import type { ComponentType, ReactNode } from 'react';
import styles from '../sign-in.module.css';

export type WayFrame = ComponentType<{ title: string; lead?: ReactNode; children?: ReactNode; footer?: ReactNode }>;

/** The overlay keeps its own heading, so the title is not shown. */
export const OverlayFrame: WayFrame = ({ lead, children, footer }) => (
  <>
    {lead && <p className={styles.lead}>{lead}</p>}
    {children}
    {footer && <p className={styles.under}>{footer}</p>}
  </>
);

export type WayProps = {
  frame: WayFrame;
  /** The address of the expired session; the form asks for it if missing. */
  address?: string | undefined;
  /** The number of the expired session; the form asks for it if missing. */
  phone?: string | undefined;
  /** The page that redirected to the sign-in. */
  returnPath?: string | undefined;
  onBack: () => void;
};
