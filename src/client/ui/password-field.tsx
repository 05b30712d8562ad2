/** A password with a button that shows it: people who see what they type make fewer mistakes. */
import { Eye, EyeOff } from 'lucide-react';
import { useState } from 'react';
import type { ComponentProps } from 'react';
import { IconButton } from './button.tsx';
import { Field } from './field.tsx';
import styles from './field.module.css';

type PasswordFieldProps = Omit<ComponentProps<typeof Field>, 'type' | 'trailing'> & {
  autoComplete: 'current-password' | 'new-password';
};

export function PasswordField({ label, ...rest }: PasswordFieldProps) {
  const [shown, setShown] = useState(false);
  // The name says which password it is about, without being mistaken for the field's own label.
  const name = `${shown ? 'Hide' : 'Show'} ${label.toLowerCase()}`;
  return (
    <Field
      label={label}
      {...rest}
      type={shown ? 'text' : 'password'}
      spellCheck={false}
      autoCapitalize="none"
      trailing={
        <IconButton label={name} className={styles.toggle} aria-pressed={shown} onClick={() => setShown(!shown)}>
          {shown ? <EyeOff aria-hidden /> : <Eye aria-hidden />}
        </IconButton>
      }
    />
  );
}
