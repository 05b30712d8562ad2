/** The profile's section on second factors, passkeys, the phone number, linked sign-ins and devices. */
import { useEffect, useId, useRef, useState, type ReactNode } from 'react';
import { useQuery } from '@tanstack/react-query';
import { useAuth } from '#client/lib/api/use-auth.ts';
import { useClientConfig } from '#client/lib/api/supabase.ts';
import { useUser, isSsoUser } from '#client/lib/session/session.ts';
import { lazyChunk, useOpenChunk, type LazyChunk } from '#client/ui/lazy-chunk.ts';
import { SummaryLine } from '#client/ui/page/folded-section.tsx';
import { Section } from '#client/ui/page/page.tsx';
import { Stack } from '#client/ui/stack.tsx';
import { SECURITY_HASH, TWO_STEP_HASH } from '#client/ui/second-step/recovery-notice.ts';
import { SessionsSection, useOwnSessions } from './sessions.tsx';
import { useLinkedSignIns, confirmedPhone, passkeysQuery } from './linked-sign-ins.ts';
import type { PanelProps } from './panel.tsx';
import styles from './security.module.css';

const twoStepPanel = lazyChunk(async () => (await import('./two-step-panel.tsx')).TwoStepPanel);
const passkeysPanel = lazyChunk(async () => (await import('./passkeys-panel.tsx')).PasskeysPanel);
const phonePanel = lazyChunk(async () => (await import('./phone-panel.tsx')).PhonePanel);
const linkedPanel = lazyChunk(async () => (await import('./linked-panel.tsx')).LinkedPanel);

/** `isShown`: false while the page loads. A hidden section cannot be scrolled to. */
export function SecuritySection({ isShown }: { isShown: boolean }) {
  const partsId = useId();
  const line = useRef<HTMLDivElement>(null);
  const [isOpen, setOpen] = useState(false);
  // Once unfolded, the parts stay mounted: a fold loses neither new recovery codes nor what was typed.
  const [wasOpened, setWasOpened] = useState(false);
  if (isOpen && !wasOpened) setWasOpened(true);
  useEffect(() => {
    if (!isShown) return;
    const openLinked = (): void => {
      const isSection = location.hash === SECURITY_HASH;
      // The part on two-step verification scrolls to itself.
      if (isSection || location.hash === TWO_STEP_HASH) setOpen(true);
      if (isSection) line.current?.closest('section')?.scrollIntoView();
    };
    openLinked();
    addEventListener('hashchange', openLinked);
    return () => removeEventListener('hashchange', openLinked);
  }, [isShown]);
  const label = isOpen ? 'Hide' : 'Show';
  return (
    <Section title="Security">
      <SummaryLine
        ref={line}
        label={label}
        name={`${label} security`}
        isOpen={isOpen}
        contentId={wasOpened ? partsId : undefined}
        onToggle={() => setOpen(!isOpen)}
      >
        <SecuritySummary />
      </SummaryLine>
      {wasOpened && (
        <div id={partsId} className={styles.parts} hidden={!isOpen}>
          <SecurityParts />
          <SessionsSection />
        </div>
      )}
    </Section>
  );
}

/** For example "Two-step verification on, 2 passkeys, 3 devices". Leaves out what is not known. */
function SecuritySummary() {
  const user = useUser();
  const auth = useAuth();
  const hasPasskeys = useClientConfig().signIn.passkeys && !isSsoUser(user);
  const { data: passkeys } = useQuery({ ...passkeysQuery(auth, user.id), enabled: hasPasskeys });
  const { data: sessions } = useOwnSessions();
  const isTwoStepOn = user.factors?.some(({ status }) => status === 'verified') === true;
  const facts = [
    `Two-step verification ${isTwoStepOn ? 'on' : 'off'}`,
    hasPasskeys && passkeys && (passkeys.length === 0 ? 'no passkeys' : countLabel(passkeys.length)),
    sessions && (sessions.length === 1 ? '1 device' : `${sessions.length} devices`),
  ];
  // No-break spaces: a line does not end within a fact.
  const known = facts.flatMap((fact) => fact || []).map((fact) => fact.replaceAll(' ', '\u00a0'));
  // Commas, because a dot would stand alone at the end of a line on a phone.
  return known.join(', ');
}

function SecurityParts() {
  const { passkeys, phone, linking, providers } = useClientConfig().signIn;
  const user = useUser();
  const hasProvider = user.identities?.some(({ provider }) => provider !== 'email') === true;
  // The server refuses a user of single sign-on any other way to sign in.
  if (isSsoUser(user)) return <TwoStepSection />;
  return (
    <>
      <TwoStepSection />
      {passkeys && <PasskeysSection />}
      {phone && <PhoneSection />}
      {(hasProvider || (linking && providers.length > 0)) && <LinkedSection />}
    </>
  );
}

const FACTOR_NAMES = {
  totp: 'Authenticator app',
  phone: 'Text message',
  webauthn: 'Security key',
  recovery_code: 'Recovery codes',
} as const;

function TwoStepSection() {
  const { factors = [] } = useUser();
  const kinds = factors
    .filter(({ status }) => status === 'verified')
    .map(({ factor_type }) => FACTOR_NAMES[factor_type]);
  const isOn = kinds.length > 0;
  return (
    <AccountSection
      title="Two-step verification"
      summary={isOn ? joinWords([...new Set(kinds)]) : 'Off'}
      openLabel={isOn ? 'Change' : 'Set up'}
      panel={twoStepPanel}
      hash={TWO_STEP_HASH}
    />
  );
}

function PasskeysSection() {
  const auth = useAuth();
  const { data } = useQuery(passkeysQuery(auth, useUser().id));
  const count = data?.length ?? 0;
  return (
    <AccountSection
      title="Passkeys"
      summary={data === undefined ? 'Sign in without a password' : countLabel(count)}
      openLabel={count === 0 ? 'Set up' : 'Change'}
      panel={passkeysPanel}
    />
  );
}

function countLabel(count: number): string {
  if (count === 0) return 'None';
  return count === 1 ? '1 passkey' : `${count} passkeys`;
}

function PhoneSection() {
  const phone = confirmedPhone(useUser());
  return (
    <AccountSection
      title="Phone number"
      summary={phone ?? 'None'}
      openLabel={phone === null ? 'Set up' : 'Change'}
      panel={phonePanel}
    />
  );
}

function LinkedSection() {
  const { identities, labelOf, canRemove, unlinked } = useLinkedSignIns();
  const canLink = unlinked.length > 0 ? 'Set up' : 'Show';
  return (
    <AccountSection
      title="Linked sign-ins"
      summary={joinWords([...new Set(identities.map(labelOf))])}
      openLabel={canRemove ? 'Change' : canLink}
      panel={linkedPanel}
    />
  );
}

type AccountSectionProps = {
  title: string;
  /** The state in a few words. */
  summary: ReactNode;
  /** The label of the button that opens the panel. */
  openLabel: string;
  panel: LazyChunk<PanelProps>;
  /** A link with this hash opens the panel. */
  hash?: string;
};

/** A section of the profile page with one line of state. Its controls are loaded when it is opened. */
function AccountSection({ title, summary, openLabel, panel, hash }: AccountSectionProps) {
  const panelId = useId();
  const openChunk = useOpenChunk();
  const [isOpen, setOpen] = useState(false);
  const [isClosable, setClosable] = useState(true);
  const toggle = (): void => (isOpen ? setOpen(false) : openChunk(panel, () => setOpen(true)));
  const summaryElement = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (hash === undefined) return;
    const show = (): void => {
      setOpen(true);
      summaryElement.current?.closest('section')?.scrollIntoView();
    };
    const openLinked = (): void => void (location.hash === hash && openChunk(panel, show, false));
    openLinked();
    addEventListener('hashchange', openLinked);
    return () => removeEventListener('hashchange', openLinked);
  }, [hash, openChunk, panel]);
  const label = isOpen ? 'Close' : openLabel;
  return (
    <Section title={title} isPart>
      <SummaryLine
        ref={summaryElement}
        label={label}
        name={`${label}: ${title}`}
        isOpen={isOpen}
        contentId={isOpen ? panelId : undefined}
        onToggle={isClosable ? toggle : null}
      >
        {summary}
      </SummaryLine>
      {isOpen && (
        <Stack id={panelId}>
          <panel.View onClose={() => setOpen(false)} setClosable={setClosable} />
        </Stack>
      )}
    </Section>
  );
}

const LIST = new Intl.ListFormat('en', { type: 'conjunction' });

/** "Google and GitHub". */
const joinWords = (words: readonly string[]): string => LIST.format(words);
