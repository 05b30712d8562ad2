/** The email field of account forms, set up for phone keyboards and password managers. */
import type { ComponentProps, InputEvent } from 'react';
import { EMAIL_PROBLEM } from '#domain/account/account.ts';
import { TYPED_ADDRESS_KEY } from '#client/lib/session/storage-keys.ts';
import { Field } from '#client/ui/form/field.tsx';

type EmailFieldProps = Omit<ComponentProps<typeof Field>, 'label' | 'name' | 'type'>;

export function EmailField(field: EmailFieldProps) {
  return (
    <Field
      label="Email address"
      name="email"
      type="email"
      autoComplete="username"
      inputMode="email"
      autoCapitalize="none"
      required
      invalidText={EMAIL_PROBLEM}
      {...(field.value === undefined && rememberedAddress())}
      {...field}
    />
  );
}

/** Keeps the typed address when the user changes to another account form, also across a page load. */
const rememberedAddress = () => ({
  defaultValue: sessionStorage.getItem(TYPED_ADDRESS_KEY) ?? '',
  onInput: ({ currentTarget }: InputEvent<HTMLInputElement>) =>
    sessionStorage.setItem(TYPED_ADDRESS_KEY, currentTarget.value),
});
