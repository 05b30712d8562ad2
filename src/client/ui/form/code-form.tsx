/** The six digits of a mail, typed: for people who read their mail on another device. */
import type { ReactNode } from 'react';
import { parseCode } from '#domain/account/account.ts';
import { codeMessage, MESSAGES } from '#domain/messages.ts';
import type { ProviderError } from '#domain/messages.ts';
import { useSubmit } from '#client/lib/hooks/use-submit.ts';
import type { Outcome } from '#client/lib/hooks/use-submit.ts';
import { Button } from '../button.tsx';
import { Field } from './field.tsx';
import { Notice } from '../notice.tsx';

/** What came of a code: an error of the service, or what to say. */
export type CodeResult = { error: ProviderError } | { outcome: Outcome };

type CodeFormProps = {
  className?: string | undefined;
  label?: string;
  autoFocus?: boolean;
  /** Answers what came of the code. `form` holds the further fields. */
  check: (code: string, form: FormData) => Promise<CodeResult>;
  /** Further fields, above the code. */
  children?: ((errorOf: (field: string) => string | null) => ReactNode) | undefined;
};

export function CodeForm({ className, label = 'Code from your e-mail', autoFocus, check, children }: CodeFormProps) {
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
      {/* No limit of length: it would cut a code that is pasted with spaces. */}
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
