/** The menu: the signed-in user, links, tools and Logout. */
import Crown from 'lucide-react/icons/crown';
import Keyboard from 'lucide-react/icons/keyboard';
import Moon from 'lucide-react/icons/moon';
import Sun from 'lucide-react/icons/sun';
import { useEffect, useState } from 'react';
import { MESSAGES } from '#domain/messages.ts';
import { PLANS } from '#domain/plan/plan.ts';
import { ROUTES } from '#domain/routes.ts';
import { supportHref } from '#domain/account/support.ts';
import { Link } from '#client/lib/navigation.ts';
import { PlanPlaceholder } from '#client/ui/plan/plan-placeholder.tsx';
import { usePremium } from '#client/lib/plan/premium.ts';
import { chooseTheme, currentTheme, subscribeToTheme } from '#client/lib/session/browser-preferences.ts';
import { useInstall } from './install.ts';
import { useSignOut } from '#client/lib/session/use-sign-out.ts';
import { Notice } from '#client/ui/notice.tsx';
import { SignOutDialog } from '#client/ui/sign-out-dialog.tsx';
import { displayName, useSession } from '#client/lib/session/session.ts';
import { Brand } from '#client/ui/page/brand.tsx';
import { Button, IconButton } from '#client/ui/button.tsx';
import { LockedCrown, UpgradeButton } from '#client/ui/plan/upgrade-button.tsx';
import { Dialog } from '#client/ui/dialog.tsx';
import { useSupportAddress } from '#client/ui/support-link.tsx';
import { FIND_KEYS, ALT_KEYS, DAY_KEYS } from '#client/lib/keys.ts';
import type { OverlayProps } from '../routes/overlay-props.ts';
import styles from './sidebar.module.css';
import { EDITOR_SHORTCUTS, type Shortcut } from '#client/editor/editor-keys.ts';

export function Sidebar({ date, onClose, onOpen }: OverlayProps) {
  const { user } = useSession();
  const premium = usePremium();
  const support = useSupportAddress();
  const { way, install } = useInstall();
  const [shortcuts, setShortcuts] = useState(false);

  useEffect(() => {
    // Listens only while this menu is open: a shortcut of one character must not fire where users type (WCAG 2.1.4).
    const onKey = (event: KeyboardEvent) => void (event.key === '?' && setShortcuts((shown) => !shown));
    document.addEventListener('keydown', onKey);
    return () => document.removeEventListener('keydown', onKey);
  }, []);

  return (
    <Dialog title="Menu" placement="start" heading={<Brand />} onClose={onClose}>
      <div className={styles.menu}>
        <div>
          <p className={styles.name}>{displayName(user)}</p>
          <p className={styles.address}>{user?.email}</p>
          {premium === null ? (
            <PlanPlaceholder />
          ) : (
            <p className={styles.plan}>
              {premium && <Crown size={16} strokeWidth={1.8} aria-hidden />}
              {premium ? PLANS.premium.name : PLANS.free.name}
            </p>
          )}
        </div>
        {/* Links close the menu at once: it would cover the toast about a screen that failed to load. */}
        <nav className={styles.links} aria-label="Main">
          <Link to={ROUTES.journal.path} onClick={onClose}>
            Logs
          </Link>
          <button type="button" onClick={() => onOpen('find', date)} aria-haspopup="dialog">
            Find
            <span className={styles.shortcut} aria-hidden="true">
              <Keys of={FIND_KEYS} />
            </span>
          </button>
          <Link to={ROUTES.reviews.path} onClick={onClose}>
            Hustle Reviews
            {premium === false && <LockedCrown role="img" aria-label="Closer only" />}
          </Link>
          <Link to={ROUTES.settings.path} onClick={onClose}>
            Settings
          </Link>
          <Link to={ROUTES.profile.path} onClick={onClose}>
            Profile
          </Link>
          {way === 'prompt' && (
            <button type="button" onClick={install}>
              Install
            </button>
          )}
          {way === 'ios' && <p className={styles.install}>To install: tap Share, then Add to Home Screen</p>}
          {support !== undefined && (
            <a className={styles.help} href={supportHref(support, 'help')}>
              Help
              <span className={styles.address}>{support}</span>
            </a>
          )}
        </nav>
        {shortcuts && <Shortcuts />}
        <div className={styles.end}>
          {premium === false && <UpgradeButton feature="default" />}
          <div className={styles.tools}>
            <ThemeToggle />
            <IconButton
              className={styles.keyboard}
              label="Keyboard shortcuts (?)"
              aria-expanded={shortcuts}
              onClick={() => setShortcuts(!shortcuts)}
            >
              <Keyboard aria-hidden />
            </IconButton>
          </div>
          <SignOutButton />
        </div>
      </div>
    </Dialog>
  );
}

function ThemeToggle() {
  const [theme, setTheme] = useState(currentTheme);
  useEffect(() => subscribeToTheme(() => setTheme(currentTheme())), []);
  const other = theme === 'dark' ? 'light' : 'dark';
  return (
    <Button
      onClick={() => {
        chooseTheme(other);
        setTheme(other);
      }}
    >
      {other === 'dark' ? <Moon size={18} aria-hidden /> : <Sun size={18} aria-hidden />}
      {other === 'dark' ? 'Dark mode' : 'Light mode'}
    </Button>
  );
}

/** Signs out on all devices. When the server is unreachable, offers to sign out on this device only. */
function SignOutButton() {
  const signingOut = useSignOut();
  const { busy, question, unreachable, start } = signingOut;
  return (
    <>
      {unreachable && (
        <div className={styles.stuck}>
          <Notice kind="error">{MESSAGES.serverUnreachable}</Notice>
          <Button onClick={() => start('local')}>Sign out on this device only</Button>
        </div>
      )}
      <Button busy={busy !== null && question === null} busyLabel="Logging out..." onClick={() => start('global')}>
        Logout
      </Button>
      <SignOutDialog signingOut={signingOut} />
    </>
  );
}

/** The listed shortcuts other than those of the editor (EDITOR_SHORTCUTS). */
const KEYS: readonly Shortcut[] = [
  { keys: FIND_KEYS, does: 'Find' },
  ...Object.values(DAY_KEYS).map(({ key, label }) => ({ keys: [...ALT_KEYS, key], does: label })),
  { keys: ['?'], does: 'Keyboard shortcuts' },
];
/** The list opens at the end of the menu, mostly below the fold of a small window. */
const scrollIntoView = (list: HTMLElement | null): void => list?.scrollIntoView({ block: 'nearest' });

function Shortcuts() {
  return (
    <section ref={scrollIntoView} className={styles.shortcuts} aria-label="Keyboard shortcuts">
      <ShortcutList of={KEYS} />
      <h3>Formatting</h3>
      <ShortcutList of={EDITOR_SHORTCUTS} />
    </section>
  );
}

function ShortcutList({ of: shortcuts }: { of: readonly Shortcut[] }) {
  return (
    <dl className={styles.keys}>
      {shortcuts.map(({ keys, does }) => (
        <div key={does}>
          <dt>{does}</dt>
          <dd>
            <Keys of={keys} />
          </dd>
        </div>
      ))}
    </dl>
  );
}

function Keys({ of: keys }: { of: readonly string[] }) {
  return keys.map((key) => (
    <kbd key={key} className={styles.key}>
      {key}
    </kbd>
  ));
}
