/** The address of an account, in a field that phone keyboards and password managers understand. */
import type { ComponentProps, InputEvent } from 'react';
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
      {...(field.value === undefined && carried())}
      {...field}
    />
  );
}

/** What was typed goes along from "Sign in" to "Create an account", also when that is loaded as a page. */
const carried = () => ({
  defaultValue: sessionStorage.getItem(TYPED_ADDRESS_KEY) ?? '',
  onInput: ({ currentTarget }: InputEvent<HTMLInputElement>) =>
    sessionStorage.setItem(TYPED_ADDRESS_KEY, currentTarget.value),
});
