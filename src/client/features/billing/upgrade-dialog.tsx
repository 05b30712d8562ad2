/** The offer to become a Closer, in the words of the thing that was just out of reach. */
import { Crown } from 'lucide-react';
import { useState } from 'react';
import { COUNTRY_CODES } from '#domain/countries.ts';
import { PREMIUM_PRICE } from '#domain/plan.ts';
import { UPGRADE_OFFERS } from '#domain/upgrade.ts';
import type { UpgradeFeature } from '#domain/upgrade.ts';
import { useSession } from '#client/lib/session.ts';
import { textOf, useSubmit } from '#client/lib/use-submit.ts';
import { Button } from '#client/ui/button.tsx';
import { Dialog } from '#client/ui/dialog.tsx';
import { Notice } from '#client/ui/notice.tsx';
import { SelectField } from '#client/ui/select-field.tsx';
import { useUpgrade } from './use-upgrade.ts';
import styles from './upgrade-dialog.module.css';

export function UpgradeDialog({ feature, onClose }: { feature: UpgradeFeature; onClose: () => void }) {
  const { profile } = useSession();
  const upgrade = useUpgrade();
  const [leaving, setLeaving] = useState(false);
  const offer = UPGRADE_OFFERS[feature];

  const { outcome, busy, onSubmit } = useSubmit(async (form) => {
    const error = await upgrade(textOf(form, 'country'));
    if (error !== null) return { kind: 'error', text: error };
    setLeaving(true);
    return null;
  });

  return (
    <Dialog title="Premium Feature" className={styles.dialog} onClose={onClose}>
      <h3 className={styles.offer}>{offer.title}</h3>
      <p className={styles.description}>{offer.description}</p>
      <ul className={styles.benefits}>
        {offer.benefits.map((benefit) => (
          <li key={benefit}>{benefit}</li>
        ))}
      </ul>
      <form className={styles.form} onSubmit={onSubmit}>
        <p className={styles.price}>
          <Crown className={styles.crown} size={20} strokeWidth={1.8} aria-hidden />
          <strong>{PREMIUM_PRICE.label}</strong>
          <span>Closer, one year, no renewal by itself</span>
        </p>
        {outcome && <Notice kind={outcome.kind}>{outcome.text}</Notice>}
        <SelectField
          label="Country"
          name="country"
          autoComplete="country"
          defaultValue={profile?.country ?? ''}
          required
        >
          <option value="">Choose your country</option>
          <Countries />
        </SelectField>
        <Button tone="primary" type="submit" busy={busy || leaving} busyLabel="Redirecting to PayPal...">
          Upgrade with PayPal
        </Button>
        <Button tone="text" onClick={onClose}>
          Maybe Later
        </Button>
      </form>
    </Dialog>
  );
}

/** Names in the reader's own words of English, sorted as that language sorts. */
function Countries() {
  const names = new Intl.DisplayNames(['en'], { type: 'region' });
  const countries = COUNTRY_CODES.map((code) => ({ code, name: names.of(code) ?? code }));
  return countries
    .sort((a, b) => a.name.localeCompare(b.name, 'en'))
    .map(({ code, name }) => (
      <option key={code} value={code}>
        {name}
      </option>
    ));
}
