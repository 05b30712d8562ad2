/**
 * The upgrade dialog offers the premium plan, or a renewal to a premium user (docs/specification/screens.md 12).
 */
import ChevronDown from 'lucide-react/icons/chevron-down';
import Crown from 'lucide-react/icons/crown';
import { useId, useState } from 'react';
import { AI_MESSAGES } from '#domain/coach/coach.ts';
import { COUNTRIES } from '#domain/payment/countries.ts';
import { guessCountry } from '#domain/payment/likely-country.ts';
import { dateLabel, dayOf, type Day } from '#domain/day/day.ts';
import { MESSAGES, providerMessage } from '#domain/messages.ts';
import { extendPlan } from '#domain/payment/payment.ts';
import { isLocked, PREMIUM_PRICE } from '#domain/plan/plan.ts';
import {
  closerBenefits,
  fairUseNote,
  lockedLogsLabel,
  upgradeOffer,
  type UpgradeFeature,
} from '#domain/plan/upgrade.ts';
import { useEntryDates } from '#client/sync/entries/entry-dates.ts';
import { usePremium } from '#client/lib/plan/premium.ts';
import { useSession, useUser } from '#client/lib/session/session.ts';
import { useClientConfig, useSupabase } from '#client/lib/api/supabase.ts';
import { usePaymentPending } from '#client/lib/plan/payment-queries.ts';
import { textOf, useSubmit } from '#client/lib/hooks/use-submit.ts';
import { useToday } from '#client/lib/hooks/use-clock.ts';
import { Button } from '#client/ui/button.tsx';
import { Dialog } from '#client/ui/dialog.tsx';
import { Notice } from '#client/ui/notice.tsx';
import { FieldError, useInvalidText } from '#client/ui/form/form.tsx';
import { TextWithSupportLink } from '#client/ui/support-link.tsx';
import { useData } from '#client/lib/api/data-client.ts';
import { useRedirecting, rememberPurchaseOrigin } from './leave-for-paypal.ts';
import styles from './upgrade-dialog.module.css';

export function UpgradeDialog({ feature, onClose }: { feature: UpgradeFeature; onClose: () => void }) {
  const { profile } = useSession();
  const isRenewal = usePremium() === true;
  const pending = usePaymentPending();
  const validUntil = profile?.access_valid_until ?? null;
  return (
    <Dialog title={isRenewal ? 'Renew Closer' : 'Premium Feature'} className={styles.dialog} onClose={onClose}>
      {pending ? (
        <Notice kind="info">{MESSAGES.paymentPending}</Notice>
      ) : (
        <>
          {isRenewal ? <Renewal validUntil={validUntil} /> : <Offer feature={feature} />}
          {/* A plan without an end date cannot be renewed. */}
          {(!isRenewal || validUntil !== null) && (
            <PaymentForm feature={feature} renewal={isRenewal} onClose={onClose} />
          )}
        </>
      )}
    </Dialog>
  );
}

function Offer({ feature }: { feature: UpgradeFeature }) {
  const { features } = useClientConfig();
  const { title, description, benefits, isFullOffer } = upgradeOffer(feature, features.coach);
  return (
    <>
      <h3 className={styles.offer}>{title}</h3>
      <p className={styles.description}>{description}</p>
      <LockedLogs />
      <Benefits of={benefits} more={isFullOffer ? null : 'Plus everything else that Closers get.'} />
    </>
  );
}

/** How many of the user's own logs an upgrade would unlock. */
function LockedLogs() {
  const { data: dates = [] } = useEntryDates();
  const today = useToday();
  const label = lockedLogsLabel(dates.filter((date) => isLocked(date, false, today)).length);
  return label && <p className={styles.waiting}>{label}</p>;
}

function Renewal({ validUntil }: { validUntil: Day | null }) {
  const { features } = useClientConfig();
  if (validUntil === null) {
    return (
      <>
        <h3 className={styles.offer}>You do not need to renew</h3>
        <p className={styles.description}>You're a Closer, and your plan has no end date.</p>
      </>
    );
  }
  return (
    <>
      <h3 className={styles.offer}>Another year</h3>
      <p className={styles.description}>
        You're a Closer until {dateLabel(validUntil)}. If you renew now, your plan runs until{' '}
        <strong>{dateLabel(extendPlan(validUntil, dayOf(new Date())))}</strong>.
      </p>
      <Benefits of={closerBenefits(features.coach)} />
    </>
  );
}

/** Lists the benefits. Before the user pays, it also says if this server has no coach. */
function Benefits({ of, more = null }: { of: readonly string[]; more?: string | null }) {
  const { features } = useClientConfig();
  const fairUse = fairUseNote(of);
  return (
    <>
      <ul className={styles.benefits}>
        {of.map((benefit) => (
          <li key={benefit}>{benefit}</li>
        ))}
      </ul>
      {(more || fairUse) && <p className={styles.more}>{[more, fairUse].filter(Boolean).join(' ')}</p>}
      {!features.coach && (
        <div className={styles.without}>
          <Notice kind="info">{AI_MESSAGES.notConfigured}</Notice>
        </div>
      )}
    </>
  );
}

/** Created once, so a change of the select does not re-render 250 options. */
const OPTIONS = [{ code: '', name: 'Choose your country' }, ...COUNTRIES].map(({ code, name }) => (
  <option key={code} value={code}>
    {name}
  </option>
));

type PaymentFormProps = { feature: UpgradeFeature; renewal: boolean; onClose: () => void };

function PaymentForm({ feature, renewal, onClose }: PaymentFormProps) {
  const { profile } = useSession();
  const { features, paymentBlockedCountries } = useClientConfig();
  const upgrade = usePayment(feature);
  const [isRedirecting, setRedirecting] = useRedirecting();
  const [guess] = useState(() => guessCountry(Intl.DateTimeFormat().resolvedOptions().timeZone, navigator.languages));
  // A suggestion is not the user's choice: it is sent only with the form.
  const [country, setCountry] = useState(profile?.country || (guess ?? ''));
  const isGuess = !profile?.country && country === guess;
  const isBlocked = paymentBlockedCountries.includes(country);

  const { outcome, busy, onSubmit } = useSubmit(async (form) => {
    const error = await upgrade(textOf(form, 'country'));
    if (error !== null) return { kind: 'error', text: error };
    setRedirecting(true);
    return null;
  });

  return (
    <form className={styles.form} onSubmit={onSubmit}>
      <div className={styles.footer}>
        <p className={styles.price}>
          <Crown className={styles.crown} size={20} strokeWidth={1.8} aria-hidden />
          <strong>{PREMIUM_PRICE.label}</strong>
          <span>One year. No automatic renewal.</span>
        </p>
        {features.payments ? (
          <>
            <CountryField value={country} isGuess={isGuess} onChange={setCountry} />
            <div className={styles.blocked} role="status">
              {isBlocked && <Blocked country={country} />}
            </div>
            {outcome && !isBlocked && (
              <Notice kind={outcome.kind}>
                <TextWithSupportLink text={outcome.text} about="payment" />
              </Notice>
            )}
            <Button
              tone="primary"
              type="submit"
              disabled={isBlocked}
              busy={busy || isRedirecting}
              busyLabel="Redirecting to PayPal..."
            >
              {renewal ? 'Renew with PayPal' : 'Upgrade with PayPal'}
            </Button>
          </>
        ) : (
          <Notice kind="info">{MESSAGES.paymentsOff}</Notice>
        )}
        <Button className={styles.later} tone="text" onClick={onClose}>
          Maybe Later
        </Button>
      </div>
    </form>
  );
}

type CountryFieldProps = { value: string; isGuess: boolean; onChange: (country: string) => void };

/** The country on one line. The native select covers the line, so a tap on "Change" opens its list. */
function CountryField({ value, isGuess, onChange }: CountryFieldProps) {
  const id = useId();
  const { problem, onInvalid, clearProblem } = useInvalidText('Choose your country');
  return (
    <div>
      <div className={styles.country}>
        <label htmlFor={id}>Country</label>
        <select
          id={id}
          name="country"
          autoComplete="country"
          value={value}
          required
          aria-invalid={problem !== null || undefined}
          aria-describedby={problem !== null ? `${id}-problem` : isGuess ? `${id}-guess` : undefined}
          onInvalid={onInvalid}
          onChange={(event) => {
            clearProblem();
            onChange(event.target.value);
          }}
        >
          {OPTIONS}
        </select>
        {value !== '' && <span aria-hidden="true">Change</span>}
        {value === '' && <ChevronDown aria-hidden />}
      </div>
      {isGuess && (
        <p id={`${id}-guess`} className={styles.guess}>
          Suggested from your browser settings.
        </p>
      )}
      {problem !== null && <FieldError id={`${id}-problem`}>{problem}</FieldError>}
    </div>
  );
}

function Blocked({ country }: { country: string }) {
  const name = COUNTRIES.find(({ code }) => code === country)?.name ?? 'this country';
  return (
    <Notice kind="info">
      PayPal payments are not available in {name}. You can keep using the free plan with the last 30 days of logs.
    </Notice>
  );
}

/**
 * Starts a payment: saves the country, creates the order, redirects to PayPal. Returns the error to show, or null if
 * the browser is redirecting.
 */
function usePayment(feature: UpgradeFeature): (country: string) => Promise<string | null> {
  const data = useData();
  const { callFunction } = useSupabase();
  const { profile, refreshProfile } = useSession();
  const user = useUser();

  return async (country) => {
    if (country !== profile?.country) {
      // The server reads the order's country from the profile; the country decides the refund rule.
      const { error, status } = await data.from('profiles').update({ country }).eq('id', user.id);
      if (error) return providerMessage({ code: error.code, message: error.message, status });
      void refreshProfile();
    }
    const order = { amount: Number(PREMIUM_PRICE.amount), currency: PREMIUM_PRICE.currency, user_id: user.id };
    const answer = await callFunction('paypal-create-order', order).catch(() => null);
    if (answer === null) return MESSAGES.unknown;
    if (answer.success && typeof answer['approval_url'] === 'string') {
      rememberPurchaseOrigin(feature);
      location.assign(answer['approval_url']);
      return null;
    }
    return answer.error ?? MESSAGES.unknown;
  };
}
