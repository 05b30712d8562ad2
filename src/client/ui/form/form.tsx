/** A form with its outcome above the fields. */
import type { ComponentProps } from 'react';
import type { Outcome } from '#client/lib/hooks/use-submit.ts';
import { Button } from '../button.tsx';
import { Notice } from '../notice.tsx';
import styles from './form.module.css';

/** How a form is laid out. */
export type FormLook = {
  /**
   * `column`: within a section or a panel. `dialog`: as wide as its dialog. `page`: the form of a sign-in page. `step`: the
   * second step of a sign-in.
   */
  layout?: 'column' | 'dialog' | 'page' | 'step' | undefined;
  gap?: 's2' | 's3' | 's4' | undefined;
};

type FormProps = Omit<ComponentProps<'form'>, 'className'> &
  FormLook & {
    /** Of `useSubmit`. An outcome about one field is shown by the field. */
    outcome?: Outcome;
  };

export const Form = ({ layout = 'column', gap, outcome = null, children, ...rest }: FormProps) => (
  <form {...rest} className={styles.form} data-layout={layout} data-gap={gap}>
    {outcome && outcome.field === undefined && <Notice kind={outcome.kind}>{outcome.text}</Notice>}
    {children}
  </form>
);

type SubmitButtonProps = Omit<ComponentProps<typeof Button>, 'type' | 'className'> & Pick<FormLook, 'layout'>;

/** The button of a form's main action. */
export const SubmitButton = ({ layout, ...rest }: SubmitButtonProps) => (
  <Button tone="primary" {...rest} type="submit" className={styles.submit} data-layout={layout} />
);
