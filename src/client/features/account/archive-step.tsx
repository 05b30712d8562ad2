/** Offers a file with all logs, locked ones too, before the account is deleted. */
import { useEffect, useRef, useState } from 'react';
import { dayLabel, dayOf, type Day } from '#domain/day/day.ts';
import { OWN_ACCOUNT_MESSAGES, refusalMessage } from '#domain/account/own-account-messages.ts';
import { RefusedError, useOwnAccount, type Proof } from '#client/lib/api/own-account.ts';
import { useSubmit } from '#client/lib/hooks/use-submit.ts';
import { useSession } from '#client/lib/session/session.ts';
import { Button } from '#client/ui/button.tsx';
import { Notice } from '#client/ui/notice.tsx';
import { ProofFields, proofOf, type ProofKind } from './proof-fields.tsx';
import styles from './delete-account.module.css';

type ArchiveStepProps = {
  kind: ProofKind;
  onAccepted: (proof: Proof) => void;
  onContinue: () => void;
};

export function ArchiveStep({ kind, onAccepted, onContinue }: ArchiveStepProps) {
  const account = useOwnAccount();
  const { sendUnsavedText } = useSession();
  const [file, setFile] = useState<{ name: string; url: string } | null>(null);
  /** Days with text that could not be sent. Shown as a warning: the next submit downloads the archive without that text. */
  const [unsent, setUnsent] = useState<readonly Day[]>([]);
  const stop = useRef(new AbortController());
  useEffect(() => () => stop.current.abort(), []);
  const url = file?.url;
  useEffect(() => () => void (url !== undefined && URL.revokeObjectURL(url)), [url]);

  const { outcome, busy, onSubmit, errorOf } = useSubmit(async (form) => {
    const days = await sendUnsavedText();
    if (days.length > 0 && unsent.length === 0) {
      setUnsent(days);
      return null;
    }
    setUnsent([]);
    const proof = proofOf(form);
    try {
      const blob = await account.downloadArchive(proof, stop.current.signal);
      const saved = { name: `hustle-forge-${dayOf(new Date())}.json`, url: URL.createObjectURL(blob) };
      download(saved);
      onAccepted(proof);
      setFile(saved);
      return null;
    } catch (error) {
      if (!(error instanceof RefusedError)) return { kind: 'error', text: OWN_ACCOUNT_MESSAGES.notReached };
      return { kind: 'error', ...refusalMessage(error.code) };
    }
  });

  if (file) {
    return (
      <>
        <Notice kind="success">
          All your logs are saved as{' '}
          <a href={file.url} download={file.name}>
            {file.name}
          </a>
          . Keep the file in a safe place.
        </Notice>
        <div className={styles.choices}>
          <Button tone="primary" autoFocus onClick={onContinue}>
            Continue
          </Button>
        </div>
      </>
    );
  }
  return (
    <form className={styles.form} onSubmit={onSubmit}>
      <p className={styles.text}>
        Before you delete your account, download every log you ever wrote in one file, locked ones too. A Closer can
        import it again.
      </p>
      {outcome && outcome.field === undefined && <Notice kind={outcome.kind}>{outcome.text}</Notice>}
      {unsent.length > 0 && (
        <Notice kind="error">
          Your text for {unsent.map(dayLabel).join(', ')} is not saved to your account. The file will not include it.
        </Notice>
      )}
      <ProofFields kind={kind} errorOf={errorOf} />
      <div className={styles.choices}>
        <Button tone="primary" type="submit" busy={busy} busyLabel="Downloading...">
          {unsent.length > 0 ? 'Download without it' : 'Download all my logs'}
        </Button>
        <Button tone="text" softDisabled={busy} onClick={onContinue}>
          Continue without a copy
        </Button>
      </div>
    </form>
  );
}

function download({ name, url }: { name: string; url: string }): void {
  const link = document.createElement('a');
  link.href = url;
  link.download = name;
  link.click();
}
