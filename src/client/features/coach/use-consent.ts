/** Reads and changes the consent to send logs to the AI service (docs/specification/coach.md 1). */
import { useState } from 'react';
import { useData } from '#client/lib/api/data-client.ts';
import { useSession, useUser } from '#client/lib/session/session.ts';

type Consent = {
  given: boolean;
  busy: boolean;
  /** The last change was not stored and is not in effect. */
  failed: boolean;
  change: (given: boolean) => Promise<void>;
};

export function useConsent(): Consent {
  const data = useData();
  const user = useUser();
  const { profile, refreshProfile } = useSession();
  const [state, setState] = useState({ busy: false, failed: false });

  const change = async (given: boolean): Promise<void> => {
    setState({ busy: true, failed: false });
    const { error } = await data.from('profiles').update({ ai_consent: given }).eq('id', user.id).retry(false);
    if (!error) await refreshProfile();
    setState({ busy: false, failed: Boolean(error) });
  };
  return { ...state, given: profile?.ai_consent ?? false, change };
}
