/**
 * Asks for the second step of a sign-in: a code, a security key or a recovery code (docs/specification/accounts.md 14).
 * On success the session of `auth` is raised to the assurance level `aal2`.
 */
import { isolate } from '#domain/isolate.ts';
import type { Factor } from '@supabase/auth-js';
import { useState, type ReactNode } from 'react';
import type { Auth } from '#client/lib/api/supabase.ts';
import type { User } from '#client/lib/session/session.ts';
import { Button } from '../button.tsx';
import { AppCode } from './app-code.tsx';
import { RecoveryCode } from './recovery-code.tsx';
import { SecurityKey } from './security-key.tsx';
import { TextedCode } from './texted-code.tsx';
import styles from './second-step.module.css';

type SecondStepProps = {
  auth: Auth;
  user: User;
  onPassed?: () => void;
  /** The way out, such as a button that cancels the sign-in. */
  children?: ReactNode;
};

const RECOVERY = 'recovery';

export function SecondStep({ auth, user, onPassed = () => undefined, children }: SecondStepProps) {
  const factors = (user.factors ?? []).filter(({ status }) => status === 'verified');
  const [chosen, setChosen] = useState<string>(() => lastUsed(factors)?.id ?? RECOVERY);
  const factor = factors.find(({ id }) => id === chosen);
  const others = factors.filter(({ id }) => id !== chosen);
  return (
    <div className={styles.step}>
      {/* A new key for each way drops the typed code and the error of the previous way. */}
      <Way key={chosen} auth={auth} factor={factor} onPassed={onPassed} />
      <div className={styles.others}>
        {others.map((other) => (
          <Button key={other.id} tone="text" onClick={() => setChosen(other.id)}>
            {offerOf(other, factors)}
          </Button>
        ))}
        {factor && (
          <Button tone="text" onClick={() => setChosen(RECOVERY)}>
            Use a recovery code
          </Button>
        )}
        {children}
      </div>
    </div>
  );
}

function Way({ auth, factor, onPassed }: { auth: Auth; factor: Factor | undefined; onPassed: () => void }) {
  switch (factor?.factor_type) {
    case 'totp':
      return <AppCode auth={auth} factor={factor} onPassed={onPassed} />;
    case 'phone':
      return <TextedCode auth={auth} factor={factor} onPassed={onPassed} />;
    case 'webauthn':
      return <SecurityKey auth={auth} factor={factor} onPassed={onPassed} />;
    case 'recovery_code':
    case undefined:
      return <RecoveryCode auth={auth} onPassed={onPassed} />;
  }
}

/** The factor that was used last is most likely at hand. */
function lastUsed(factors: readonly Factor[]): Factor | undefined {
  const usedAt = (factor: Factor): number => Date.parse(factor.last_challenged_at ?? '') || 0;
  return factors.toSorted((a, b) => usedAt(b) - usedAt(a))[0];
}

const OFFERS = {
  totp: 'Use your authenticator app',
  phone: 'Text a code to your phone',
  webauthn: 'Use your security key',
  recovery_code: 'Use a recovery code',
} as const;

/** Names the factor if the user has several of its kind. */
function offerOf(factor: Factor, factors: readonly Factor[]): string {
  const isOnlyOne = factors.filter(({ factor_type }) => factor_type === factor.factor_type).length === 1;
  return isOnlyOne || !factor.friendly_name ? OFFERS[factor.factor_type] : `Use “${isolate(factor.friendly_name)}”`;
}
