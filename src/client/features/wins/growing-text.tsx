/** A text area that is as high as its text. */
import type { FocusEvent, KeyboardEvent } from 'react';
import styles from './wins.module.css';

type GrowingTextProps = {
  id?: string;
  label: string;
  value: string;
  onChange: (value: string) => void;
  placeholder?: string;
  maxLength?: number;
  readOnly?: boolean;
  className?: string | undefined;
  onKeyDown?: (event: KeyboardEvent<HTMLTextAreaElement>) => void;
  onFocus?: (event: FocusEvent<HTMLTextAreaElement>) => void;
};

/** Line ends become spaces: a line of a document is one paragraph. */
export function GrowingText({ label, value, onChange, className, placeholder = '', ...rest }: GrowingTextProps) {
  return (
    // The copy of the text, in the same grid cell, gives the field its height in every browser.
    <div className={[styles.growing, className].filter(Boolean).join(' ')} data-text={value || placeholder}>
      <textarea
        {...rest}
        rows={1}
        dir="auto"
        aria-label={label}
        placeholder={placeholder}
        value={value}
        onChange={({ currentTarget }) => onChange(currentTarget.value.replaceAll(/[\r\n]+/g, ' '))}
      />
    </div>
  );
}
