/** A form for the six-digit code of a mail, for users who read their mail on another device. */
import type { ReactNode } from 'react';
import { parseCode } from '#domain/account/account.ts';
import { codeMessage, MESSAGES } from '#domain/messages.ts';
import type { ProviderError } from '#domain/messages.ts';
import { useSubmit } from '#client/lib/hooks/use-submit.ts';
import type { Outcome } from '#client/lib/hooks/use-submit.ts';
import { Button } from '../button.tsx';
import { Field } from './field.tsx';
import { Notice } from '../notice.tsx';

/** An error of the auth service, or the outcome to show. */
export type CodeResult = { error: ProviderError } | { outcome: Outcome };

type CodeFormProps = {
  className?: string | undefined;
  label?: string;
  autoFocus?: boolean;
  /** Sends the code. `form` holds the additional fields. */
  check: (code: string, form: FormData) => Promise<CodeResult>;
  /** Renders additional fields above the code. */
  children?: ((errorOf: (field: string) => string | null) => ReactNode) | undefined;
};

export function CodeForm({ className, label = 'Code from your email', autoFocus, check, children }: CodeFormProps) {
  const { outcome, busy, onSubmit, errorOf } = useSubmit(async (form) => {
    const typed = form.get('code');
    const code = typeof typed === 'string' ? parseCode(typed) : null;
    if (code === null) return { kind: 'error', text: MESSAGES.codeIncomplete, field: 'code' };
    const result = await check(code, form);
    if ('outcome' in result) return result.outcome;
    const text = codeMessage(result.error);
    return { kind: 'error', text, ...(text === MESSAGES.codeInvalid && { field: 'code' }) };
  });

  return (
    <form className={className} onSubmit={onSubmit} noValidate>
      {outcome && outcome.field === undefined && <Notice kind={outcome.kind}>{outcome.text}</Notice>}
      {children?.(errorOf)}
      {/* No maxLength: it would truncate a code that is pasted with spaces. */}
      <Field
        label={label}
        name="code"
        inputMode="numeric"
        autoComplete="one-time-code"
        autoFocus={autoFocus}
        required
        error={errorOf('code')}
      />
      <Button type="submit" busy={busy} busyLabel="Checking...">
        Use code
      </Button>
    </form>
  );
}
