/** Copies a text. A status beside the button tells whether it worked. */
import { useState } from 'react';
import { Button } from '#client/ui/button.tsx';
import styles from './security.module.css';

export function CopyButton({ text, label }: { text: string; label: string }) {
  const [result, setResult] = useState<'copied' | 'failed' | null>(null);
  const copy = (): void =>
    void navigator.clipboard.writeText(text).then(
      () => setResult('copied'),
      () => setResult('failed'),
    );
  return (
    <span>
      <Button onClick={copy}>{label}</Button>
      <span role="status" className={styles.copied}>
        {result === 'copied' && 'Copied'}
        {result === 'failed' && "Couldn't copy. Select the text instead."}
      </span>
    </span>
  );
}
