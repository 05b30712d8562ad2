/** Shows new recovery codes once, to copy, download or print. */
import { Button } from '#client/ui/button.tsx';
import { Notice } from '#client/ui/notice.tsx';
import { useUser } from '#client/lib/session/session.ts';
import { CopyButton } from './copy-button.tsx';
import { PanelView } from './panel-view.tsx';
import styles from './security.module.css';
import codeStyles from './new-codes.module.css';

const FILE_NAME = 'hustle-forge-recovery-codes.txt';

type NewCodesProps = { codes: readonly string[]; isFirstFactor: boolean; onDone: () => void };

export function NewCodes({ codes, isFirstFactor, onDone }: NewCodesProps) {
  const { email } = useUser();
  const shown = codes.map((code) => code.replaceAll(/(.{4})(?=.)/g, '$1-'));
  const text = ['Hustle Forge recovery codes', email ?? '', 'Each code works once.', '', ...shown, ''].join('\n');
  const download = (): void => {
    const link = document.createElement('a');
    link.href = URL.createObjectURL(new Blob([text], { type: 'text/plain' }));
    link.download = FILE_NAME;
    link.click();
    // By then the browser has read the file.
    setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
  };
  return (
    <PanelView title="Keep your recovery codes">
      {isFirstFactor && (
        <Notice kind="success">Two-step verification is on. Your other devices were signed out.</Notice>
      )}
      <p>
        If you lose your phone or key, one of these codes lets you in. Keep them where you keep important papers. They
        are shown only now, and each works once.
      </p>
      <ul className={codeStyles.codes} aria-label="Recovery codes" data-account={email}>
        {shown.map((code) => (
          <li key={code}>
            <code>{code}</code>
          </li>
        ))}
      </ul>
      <div className={styles.buttons}>
        <CopyButton text={text} label="Copy" />
        <Button onClick={download}>Download</Button>
        <Button onClick={() => print()}>Print</Button>
      </div>
      <Button tone="primary" onClick={onDone}>
        I have kept them
      </Button>
    </PanelView>
  );
}
