/** Signs in at the identity provider of the user's company. */
import { parseCompanyDomain } from '#domain/account/account.ts';
import { recoveryMessage } from '#domain/messages.ts';
import { useClientConfig, useSupabase } from '#client/lib/api/supabase.ts';
import { textOf, useSubmit } from '#client/lib/hooks/use-submit.ts';
import { Field, Form, SubmitButton } from '#client/ui/form/form.tsx';
import { signInWithSso } from './provider-sign-in.ts';
import { OtherWays, type WayProps } from '../sign-in-layout.tsx';

export function Sso({ frame: Frame, returnPath, onBack }: WayProps) {
  const config = useClientConfig();
  const { authFetch } = useSupabase();
  const { outcome, busy, onSubmit, errorOf } = useSubmit(async (form) => {
    const domain = parseCompanyDomain(textOf(form, 'company'));
    if (domain === null) {
      return { kind: 'error', text: 'Enter your work email, or the domain of your company.', field: 'company' };
    }
    const error = await signInWithSso(config, authFetch, domain, returnPath);
    if (error?.code === 'sso_provider_not_found') {
      return { kind: 'error', text: `Single sign-on is not set up for ${domain}.`, field: 'company' };
    }
    return error && { kind: 'error', text: recoveryMessage(error) };
  });
  return (
    <Frame
      title="Single sign-on"
      lead="We send you to your company's sign-in page."
      footer={<OtherWays onBack={onBack} />}
    >
      <Form layout="page" outcome={outcome} onSubmit={onSubmit} noValidate>
        <Field
          label="Work email or company domain"
          name="company"
          autoComplete="username"
          autoCapitalize="none"
          spellCheck={false}
          inputMode="email"
          autoFocus
          required
          error={errorOf('company')}
        />
        <SubmitButton layout="page" busy={busy} busyLabel="Redirecting...">
          Continue
        </SubmitButton>
      </Form>
    </Frame>
  );
}
