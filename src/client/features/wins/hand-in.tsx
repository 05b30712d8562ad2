/** The ways to hand a document in: copy as Markdown, print, Word or Markdown file, and a read-only link. */
import { useState } from 'react';
import FileDown from 'lucide-react/icons/file-down';
import Printer from 'lucide-react/icons/printer';
import { documentMarkdown, fileNameOf, type WinsDocument } from '#domain/documents/wins-document.ts';
import { parseLocale } from '#domain/locale.ts';
import { downloadFile } from '#client/lib/download.ts';
import { Button } from '#client/ui/button.tsx';
import { isServerReachable } from '#client/ui/lazy-chunk.ts';
import { ShareButton } from '#client/ui/share/share-button.tsx';
import { useToast } from '#client/ui/toast.tsx';
import type { DocumentSaver } from './document-saver.ts';
import styles from './wins.module.css';

type HandInProps = { id: string; document: WinsDocument; saver: DocumentSaver };

/** Letter is the paper of North America and a few others; the rest of the world has A4. */
const LETTER_REGIONS = new Set([
  'US',
  'CA',
  'MX',
  'PH',
  'CL',
  'CO',
  'VE',
  'CR',
  'GT',
  'PA',
  'DO',
  'SV',
  'HN',
  'NI',
  'PR',
]);
const paperOf = (locale: string): 'letter' | 'a4' =>
  LETTER_REGIONS.has(parseLocale(locale)?.maximize().region ?? '') ? 'letter' : 'a4';

export function HandIn({ id, document, saver }: HandInProps) {
  const toast = useToast();
  const [isWriting, setIsWriting] = useState(false);

  const copy = async (): Promise<void> => {
    try {
      await navigator.clipboard.writeText(documentMarkdown(document));
      toast({ kind: 'success', text: 'Copied as Markdown.', topic: `document ${id}` });
    } catch {
      toast({ kind: 'error', text: "Couldn't copy to the clipboard. Use the Markdown file instead." });
    }
  };
  const saveWord = async (): Promise<void> => {
    setIsWriting(true);
    try {
      const { docxFile } = await import('./docx-file.ts');
      downloadFile(await docxFile(document, paperOf(navigator.language)), fileNameOf(document, 'docx'));
    } catch {
      const isGone = await isServerReachable();
      toast({
        kind: 'error',
        text: "Couldn't write the Word file. Check your connection and try again.",
        ...(isGone && { action: { label: 'Reload the page', run: () => location.reload() } }),
      });
    } finally {
      setIsWriting(false);
    }
  };
  const saveMarkdown = (): void =>
    downloadFile(new Blob([documentMarkdown(document)], { type: 'text/markdown' }), fileNameOf(document, 'md'));
  /** Saves before a link is made, because a link shows what the server has. False if the save failed. */
  const save = async (): Promise<boolean> => {
    await saver.flush();
    const isSaved = saver.getSnapshot().state === 'saved';
    if (!isSaved) toast({ kind: 'error', text: 'The document is not saved yet. Try again when it is.' });
    return isSaved;
  };

  return (
    <div className={styles.handIn}>
      <Button tone="primary" onClick={() => print()}>
        <Printer size={18} strokeWidth={1.6} aria-hidden /> Print
      </Button>
      <Button busy={isWriting} busyLabel="Writing..." onClick={() => void saveWord()}>
        <FileDown size={18} strokeWidth={1.6} aria-hidden /> Word
      </Button>
      <ShareButton target={{ documentId: id }} prepare={save} />
      <Button tone="text" onClick={() => void copy()}>
        Copy Markdown
      </Button>
      <Button tone="text" onClick={saveMarkdown}>
        Markdown file
      </Button>
    </div>
  );
}
