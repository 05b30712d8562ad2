import { PHONE_PROBLEM } from '#domain/account/phone.ts';
import { recoveryMessage } from '#domain/messages.ts';
import type { ProviderError } from '#domain/messages.ts';
import type { Outcome } from '#client/lib/hooks/use-submit.ts';

const FIELD_TEXTS: Readonly<Record<string, string>> = {
  validation_failed: PHONE_PROBLEM,
  sms_send_failed: "We couldn't text this number. Check it, use another one, or try again later.",
};

/** The outcome to show when a code could not be texted. Errors of the number belong to the field `phone`. */
export function phoneOutcome(error: ProviderError): Outcome {
  const text = FIELD_TEXTS[error.code ?? ''];
  return text === undefined ? { kind: 'error', text: recoveryMessage(error) } : { kind: 'error', text, field: 'phone' };
}
