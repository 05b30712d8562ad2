/** Adds a second factor: enrols it, and creates the recovery codes once the first one is verified. */
import type { Factor } from '@supabase/auth-js';
import { useState } from 'react';
import { useAuthRequest, type AuthResult } from '#client/lib/api/auth-request.ts';
import { useSupabase, type Auth } from '#client/lib/api/supabase.ts';
import { useRecentSignIn, type ChangeResult } from './recent-sign-in.tsx';

export type AddFactorProps = {
  factors: readonly Factor[];
  /** Called with new recovery codes to keep; null if the user has codes already, or if creating them failed. */
  onAdded: (codes: readonly string[] | null) => void;
  onCancel: () => void;
};

export type EnrolledFactor = { id: string; totp?: { qr_code: string; secret: string } };

export function useEnrolment() {
  const request = useAuthRequest();
  const { auth } = useSupabase();
  const { applyChange, dialog } = useRecentSignIn();
  const [factor, setFactor] = useState<EnrolledFactor | null>(null);
  return {
    factor,
    dialog,
    async enrol(parameters: { factor_type: 'totp' | 'phone' | 'webauthn'; friendly_name: string; phone?: string }) {
      let result: AuthResult<EnrolledFactor> | null = null;
      const error: ChangeResult = await applyChange(async (nonce) => {
        result = await request<EnrolledFactor>('POST', '/factors', { ...parameters, issuer: 'Hustle Forge', nonce });
        return result;
      });
      const enrolled = (result as AuthResult<EnrolledFactor> | null)?.data ?? null;
      if (!error) setFactor(enrolled);
      return { error, factor: enrolled };
    },
    /** Best effort: the server deletes an unverified factor after a day. */
    discard() {
      if (factor) void auth.mfa.unenroll({ factorId: factor.id });
    },
  };
}

/** Null if the user already has codes, or if creating them failed: the factor list also offers to create them. */
export async function createRecoveryCodes(auth: Auth): Promise<readonly string[] | null> {
  const { data } = await auth.mfa.recoveryCodes.generate();
  return data?.codes ?? null;
}

/** A name that no other factor has: the server refuses two factors of one name. */
export function findUnusedName(name: string, factors: readonly Factor[]): string {
  const isTaken = (candidate: string): boolean => factors.some(({ friendly_name }) => friendly_name === candidate);
  let candidate = name;
  for (let number = 2; isTaken(candidate); number += 1) candidate = `${name} ${number}`;
  return candidate;
}
