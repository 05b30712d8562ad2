/** Opens the recovery session that a reset link stands for, and takes the link out of the address bar. */
import { useRouter } from '@tanstack/react-router';
import { useEffect, useRef, useState } from 'react';
import { useSupabase } from '#client/lib/supabase.ts';
import { isForAnother, linkInAddress, tokensInAddress } from './mail-link.ts';

type Recovery =
  | { step: 'noLink' | 'checking' | 'open' | 'invalid' }
  /**
   * The link is spent only by a click, so that a scanner that opens it leaves it whole; and whoever is signed in is not
   * signed in as somebody else without one.
   */
  | { step: 'click'; open: () => Promise<void> };

export function useRecovery(): Recovery {
  const { auth } = useSupabase();
  const router = useRouter();
  // Read once: the address is cleaned at once, so that the link is neither bookmarked nor sent on as a referrer.
  const [found] = useState(() => ({
    link: linkInAddress(location.search),
    tokens: tokensInAddress(location.search, location.hash),
    failed: /[#?&]error(_code)?=/.test(location.search + location.hash),
  }));
  const [step, setStep] = useState<'click' | 'checking' | 'open' | 'invalid' | 'noLink'>(() => {
    if (found.link?.type === 'recovery') return 'click';
    if (found.tokens) return 'checking';
    return found.failed || location.search !== '' ? 'invalid' : 'noLink';
  });
  const started = useRef(false);

  useEffect(() => {
    if (location.search !== '' || location.hash !== '') router.history.replace(location.pathname);
    const { tokens } = found;
    if (!tokens || started.current) return;
    started.current = true;
    void auth.getSession().then(async ({ data: { session } }) => {
      // Threat: a page elsewhere leads here with tokens of its own account, and what is written from then on, in every
      // tab, is written into that one.
      if (session && isForAnother(tokens.access_token, session.user.id)) return setStep('click');
      const { error } = await auth.setSession(tokens);
      setStep(error ? 'invalid' : 'open');
    });
  }, [auth, found, router]);

  if (step !== 'click') return { step };
  return {
    step,
    open: async () => {
      const { error } =
        found.tokens && found.link?.type !== 'recovery'
          ? await auth.setSession(found.tokens)
          : await auth.verifyOtp({ token_hash: found.link!.tokenHash, type: 'recovery' });
      setStep(error ? 'invalid' : 'open');
    },
  };
}
