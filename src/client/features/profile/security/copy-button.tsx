/** Copies a text. The label tells whether it worked. */
import { useState } from 'react';
import { Button } from '#client/ui/button.tsx';

export function CopyButton({ text, label }: { text: string; label: string }) {
  const [result, setResult] = useState<'copied' | 'failed' | null>(null);
  const copy = (): void =>
    void navigator.clipboard.writeText(text).then(
      () => setResult('copied'),
      () => setResult('failed'),
    );
  return (
    <>
      <Button onClick={copy}>{label}</Button>
      <span role="status">
        {result === 'copied' && 'Copied'}
        {result === 'failed' && "Couldn't copy. Select the text instead."}
      </span>
    </>
  );
}
