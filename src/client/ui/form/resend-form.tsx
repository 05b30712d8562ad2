/** Sends a mail or a text message again. The button counts down, because an earlier request would send nothing. */
import type { ReactNode } from 'react';
import { recoveryMessage, type ProviderError } from '#domain/messages.ts';
import { RESEND_SECONDS, useCountdown } from '#client/lib/hooks/use-countdown.ts';
import { useSubmit } from '#client/lib/hooks/use-submit.ts';
import { Button } from '../button.tsx';
import { Notice } from '../notice.tsx';

type ResendFormProps = {
  className?: string | undefined;
  send: () => Promise<{ error: ProviderError | null }>;
  /** When the last mail or text was sent, in milliseconds; by default the time of the first render. */
  sentAt?: number | undefined;
  /** Shown after sending. */
  sentText: string;
  children?: ReactNode;
};

export function ResendForm({ className, send, sentAt, sentText, children }: ResendFormProps) {
  const { left, restart } = useCountdown(RESEND_SECONDS, sentAt);
  const isWaiting = left > 0;
  const { outcome, busy, onSubmit } = useSubmit(async () => {
    if (isWaiting) return null;
    const { error } = await send();
    if (error) return { kind: 'error', text: recoveryMessage(error) };
    restart();
    return { kind: 'success', text: sentText };
  });
  return (
    <form className={className} onSubmit={onSubmit}>
      {outcome && <Notice kind={outcome.kind}>{outcome.text}</Notice>}
      {children}
      <Button type="submit" busy={busy} busyLabel="Sending..." softDisabled={isWaiting}>
        {isWaiting ? `Send again in ${left} s` : 'Send Again'}
      </Button>
    </form>
  );
}
