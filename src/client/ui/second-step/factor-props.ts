import type { Factor } from '@supabase/auth-js';
import type { Auth } from '#client/lib/api/supabase.ts';

export type FactorProps = {
  /** Holds the session of the first step. */
  auth: Auth;
  factor: Factor;
  onPassed: () => void;
};
