/** The address of an account, in a field that phone keyboards and password managers understand. */
import type { ComponentProps } from 'react';
import { Field } from '#client/ui/field.tsx';

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
      {...field}
    />
  );
}
