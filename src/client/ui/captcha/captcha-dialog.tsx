/** The overlay with the captcha's widget. */
import { useEffect, useRef, useState } from 'react';
import { currentTheme } from '#client/lib/session/preferences.ts';
import { Button } from '../button.tsx';
import { Dialog } from '../dialog.tsx';
import { LoadingText } from '../loading-text.tsx';
import { Notice } from '../notice.tsx';
import styles from './captcha-dialog.module.css';
import { loadWidget, type CaptchaSettings } from './load-widget.ts';

const NAMES = { hcaptcha: 'hCaptcha', turnstile: 'Cloudflare Turnstile' } as const;
/** The width of the normal widget of either provider. */
const NORMAL_WIDTH_PX = 303;

type CaptchaDialogProps = { captcha: CaptchaSettings; onSolved: (token: string) => void; onClose: () => void };

export function CaptchaDialog({ captcha, onSolved, onClose }: CaptchaDialogProps) {
  const [attempt, setAttempt] = useState(1);
  return (
    <Dialog title="Are you human?" onClose={onClose}>
      <p>{NAMES[captcha.provider]} checks this before we send your request. It keeps automated sign-ins out.</p>
      <CaptchaWidget key={attempt} captcha={captcha} onSolved={onSolved} onRetry={() => setAttempt(attempt + 1)} />
    </Dialog>
  );
}

type CaptchaWidgetProps = Omit<CaptchaDialogProps, 'onClose'> & { onRetry: () => void };

function CaptchaWidget({ captcha, onSolved, onRetry }: CaptchaWidgetProps) {
  const container = useRef<HTMLDivElement>(null);
  const challenge = useRef<HTMLDivElement>(null);
  const [state, setState] = useState<'loading' | 'shown' | 'failed'>('loading');
  const solve = useRef(onSolved);

  useEffect(() => {
    let isEnded = false;
    let remove = (): void => undefined;
    const fail = (): void => void (isEnded || setState('failed'));
    loadWidget(captcha)
      .then((widget) => {
        if (isEnded || !container.current || !challenge.current) return;
        const id = widget.render(container.current, {
          sitekey: captcha.siteKey,
          theme: currentTheme(),
          size: container.current.clientWidth < NORMAL_WIDTH_PX ? 'compact' : 'normal',
          callback: (token) => isEnded || solve.current(token),
          'error-callback': fail,
          'challenge-container': challenge.current,
        });
        remove = () => widget.remove(id);
        setState('shown');
      })
      .catch(fail);
    return () => {
      isEnded = true;
      remove();
    };
  }, [captcha]);

  return (
    <div className={styles.body}>
      {state === 'loading' && <LoadingText />}
      {state === 'failed' && (
        <>
          <Notice kind="error">
            The check did not load. Allow {new URL(captcha.scriptUrl).hostname} in your browser and network, then try
            again.
          </Notice>
          <Button onClick={onRetry}>Try again</Button>
        </>
      )}
      <div ref={container} hidden={state === 'failed'} />
      <div ref={challenge} className={styles.challenge} />
    </div>
  );
}
