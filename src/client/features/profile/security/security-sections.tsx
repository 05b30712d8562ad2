/** The profile's sections on second factors, passkeys, the phone number and linked sign-ins. */
import { useQuery } from '@tanstack/react-query';
import { useClientConfig, useSupabase } from '#client/lib/api/supabase.ts';
import { useUser } from '#client/lib/session/session.ts';
import { isSsoUser } from '#client/lib/session/sso-user.ts';
import { lazyChunk } from '#client/ui/lazy-chunk.ts';
import { TWO_STEP_HASH } from '#client/ui/second-step/recovery-notice.ts';
import { AccountSection } from './account-section.tsx';
import { joinWords } from './join-words.ts';
import { useLinkedSignIns } from './linked/use-linked-sign-ins.ts';
import { passkeysQuery } from './passkeys/passkeys-query.ts';
import { confirmedPhone } from './phone/confirmed-phone.ts';

const twoStepPanel = lazyChunk(async () => (await import('./two-step/two-step-panel.tsx')).TwoStepPanel);
const passkeysPanel = lazyChunk(async () => (await import('./passkeys/passkeys-panel.tsx')).PasskeysPanel);
const phonePanel = lazyChunk(async () => (await import('./phone/phone-panel.tsx')).PhonePanel);
const linkedPanel = lazyChunk(async () => (await import('./linked/linked-panel.tsx')).LinkedPanel);

export function SecuritySections() {
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
  const { auth } = useSupabase();
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
