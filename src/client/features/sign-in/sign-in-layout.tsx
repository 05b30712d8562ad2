/** The layout of all account forms: brand, heading, lead, form, footer. */
import { useEffect, useRef, type ReactNode, type ComponentType } from 'react';
import { ROUTES } from '#domain/routes.ts';
import { useTitle } from '#client/lib/navigation.ts';
import { Brand } from '#client/ui/page/brand.tsx';
import { useSession } from '#client/lib/session/session.ts';
import { InlineButton } from '#client/ui/button.tsx';
import styles from './sign-in.module.css';

type SignInLayoutProps = { title: string; lead?: ReactNode; children?: ReactNode; footer?: ReactNode };

export function SignInLayout({ title, lead, children, footer }: SignInLayoutProps) {
  useTitle(title);
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    // When one form replaces another, the focus is lost: move it to the heading, unless a field of the new form has it.
    if (document.activeElement === document.body) heading.current?.focus();
  }, []);

  return (
    <div className={styles.page}>
      <header className={styles.top}>
        {/* The landing page is a separate document, not a client route. */}
        <a className={styles.home} href={ROUTES.landing.path}>
          <Brand />
        </a>
      </header>
      <main className={styles.main}>
        <h1 ref={heading} className={styles.title} tabIndex={-1}>
          {title}
        </h1>
        {lead && <Lead>{lead}</Lead>}
        {children}
        {footer && <p className={styles.footer}>{footer}</p>}
      </main>
    </div>
  );
}

/** The sentence under a heading that says what the screen is for. */
export const Lead = ({ children }: { children: ReactNode }) => <p className={styles.lead}>{children}</p>;

/** Names the signed-in account on screens that may sign in another account instead. */
export function SignedInAs() {
  const { user } = useSession();
  return (
    user && (
      <Lead>
        You are signed in as <strong>{user.email}</strong>.
      </Lead>
    )
  );
}

/** The frame of a way to sign in: this layout, or the overlay of an expired session. */
export type WayFrame = ComponentType<SignInLayoutProps>;

export type WayProps = {
  frame: WayFrame;
  /** The email address of the user whose session has expired; the form asks for it if missing. */
  address?: string | undefined;
  /** The phone number of the user whose session has expired; the form asks for it if missing. */
  phone?: string | undefined;
  /** The page that redirected to the sign-in. */
  returnPath?: string | undefined;
  onBack: () => void;
};

/** The footer of a form for one way to sign in: leads back to the other ways. */
export const OtherWays = ({ onBack }: Pick<WayProps, 'onBack'>) => (
  <InlineButton onClick={onBack}>Sign in another way</InlineButton>
);
