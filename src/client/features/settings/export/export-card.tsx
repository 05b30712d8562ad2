/** The Export Data card: format, button, progress and result. */
import { useEffect, useRef, useState } from 'react';
import { dateLabel, dayOf, type Day } from '#domain/day/day.ts';
import { MESSAGES } from '#domain/messages.ts';
import { ROUTES } from '#domain/routes.ts';
import type { FormatWriter } from '#domain/exported-entry.ts';
import { useData } from '#client/lib/api/data-client.ts';
import { downloadUrl } from '#client/lib/download.ts';
import { useUser } from '#client/lib/session/session.ts';
import { useSupabase } from '#client/lib/api/supabase.ts';
import { Button } from '#client/ui/button.tsx';
import { Notice, NoticeButtons } from '#client/ui/notice.tsx';
import { Choices } from '#client/ui/form/choices.tsx';
import { Buttons, Quiet, Stack } from '#client/ui/stack.tsx';
import { Section } from '#client/ui/page/page.tsx';
import { createEntryReader, createExportRun, ExportRejected, type ExportRun, type Progress } from './read-entries.ts';
import { UpgradePrompt, ProgressLine } from '../settings-parts.tsx';

type ExportState =
  | { kind: 'idle' | 'empty' }
  | { kind: 'unsaved'; days: readonly Day[] }
  | { kind: 'busy'; progress: Progress | null }
  | { kind: 'failed'; text: string; progress: Progress | null }
  | { kind: 'done'; name: string; url: string; days: number; bytes: number };

type Job = { run: ExportRun; name: string };

type ExportCardProps = { premium: boolean | null; sendAll: () => Promise<readonly Day[]> };

export function ExportCard({ premium, sendAll }: ExportCardProps) {
  const [format, setFormat] = useState<Format>(FORMATS[0]);
  const { shown, saveAndExport, start, resume, cancel } = useExport(sendAll);
  const isBusy = shown.kind === 'busy';

  return (
    <Section title="Export Data" locked={premium === false}>
      <Stack>
        <Quiet>Download all your logs in one file, oldest first.</Quiet>
        <Choices
          legend="File format"
          name="exportFormat"
          choices={FORMATS}
          chosen={format.value}
          onChoose={(value) => setFormat(FORMATS.find((one) => one.value === value)!)}
          disabled={premium !== true || isBusy}
          locked={premium === false}
        />
        <Buttons>
          <Button
            tone={premium === true ? 'primary' : 'plain'}
            disabled={premium !== true}
            {...(premium === false && { 'aria-describedby': 'export-lock' })}
            busy={isBusy}
            busyLabel="Exporting..."
            onClick={() => void saveAndExport(format)}
          >
            Export All Entries
          </Button>
          {isBusy && (
            <Button tone="text" onClick={cancel}>
              Cancel
            </Button>
          )}
        </Buttons>
        {isBusy && <ProgressLine label="Exporting" progress={shown.progress} unit="logs" />}
        {shown.kind === 'unsaved' && (
          <Notice kind="error">
            <p>
              Your text for {shown.days.length === 1 ? dateLabel(shown.days[0]!) : `${shown.days.length} days`} is not
              saved on the server yet. The export would not include it.
            </p>
            <NoticeButtons>
              <Button onClick={() => void saveAndExport(format)}>Try again</Button>
              <Button tone="text" onClick={() => void start(format)}>
                Export without it
              </Button>
            </NoticeButtons>
          </Notice>
        )}
        {shown.kind === 'failed' && (
          <Notice kind="error">
            <p>{shown.text}</p>
            <NoticeButtons>
              <Button onClick={resume}>Try again</Button>
            </NoticeButtons>
          </Notice>
        )}
        {shown.kind === 'empty' && (
          <Notice kind="info">
            There is nothing to export yet. <a href={ROUTES.journal.path}>Write your first log</a>.
          </Notice>
        )}
        {shown.kind === 'done' && (
          <Notice kind="success">
            {shown.days.toLocaleString('en-US')} {shown.days === 1 ? 'log' : 'logs'}, {sizeLabel(shown.bytes)}, saved as{' '}
            <a href={shown.url} download={shown.name}>
              {shown.name}
            </a>
            .
          </Notice>
        )}
      </Stack>
      {premium === false && (
        <UpgradePrompt
          feature="export"
          id="export-lock"
          text="Upgrade to Closer to export all your logs at any time."
        />
      )}
    </Section>
  );
}

/** Runs an export. After a failure the job keeps its position, so a retry resumes there. */
function useExport(sendAll: () => Promise<readonly Day[]>) {
  const data = useData();
  const { id: userId } = useUser();
  const { callFunction } = useSupabase();
  const [shown, setShown] = useState<ExportState>({ kind: 'idle' });
  const job = useRef<Job | null>(null);
  const stop = useRef<AbortController | null>(null);
  const url = shown.kind === 'done' ? shown.url : null;

  useEffect(() => () => stop.current?.abort(), []);
  useEffect(() => () => void (url !== null && URL.revokeObjectURL(url)), [url]);

  async function record(): Promise<void> {
    const answer = await callFunction('record-export', {});
    if (!answer.success) throw new ExportRejected(answer.error ?? MESSAGES.unknown);
  }

  async function runJob({ run, name }: Job): Promise<void> {
    const controller = new AbortController();
    stop.current = controller;
    let progress: Progress | null = null;
    setShown((now) => ({ kind: 'busy', progress: now.kind === 'failed' ? now.progress : null }));
    try {
      const result = await run.run(controller.signal, (now) => {
        progress = now;
        if (!controller.signal.aborted) setShown({ kind: 'busy', progress: now });
      });
      if (controller.signal.aborted) return;
      if (result === null) setShown({ kind: 'empty' });
      else {
        const address = URL.createObjectURL(result.file);
        downloadUrl(address, name);
        setShown({ kind: 'done', name, url: address, days: result.days, bytes: result.file.size });
      }
      job.current = null;
    } catch (error) {
      if (controller.signal.aborted) return;
      const reason = error instanceof ExportRejected ? error.message : 'The server could not be reached.';
      setShown({ kind: 'failed', text: `${reason} No file was saved. Your logs are safe.`, progress });
    }
  }

  async function start(format: Format): Promise<void> {
    const today = dayOf(new Date());
    const { signal } = (stop.current = new AbortController());
    setShown({ kind: 'busy', progress: null });
    const reader = createEntryReader(data, userId);
    try {
      const writer = await format.writer(today);
      if (signal.aborted) return;
      job.current = {
        run: createExportRun({ reader, writer, type: format.type, record }),
        name: fileName(format, today),
      };
    } catch {
      setShown({
        kind: 'failed',
        text: 'The server could not be reached. Check your connection and reload the page.',
        progress: null,
      });
      return;
    }
    await runJob(job.current);
  }

  return {
    shown,
    start,
    /** The export contains only saved text, so save everything first. */
    async saveAndExport(format: Format): Promise<void> {
      const { signal } = (stop.current = new AbortController());
      setShown({ kind: 'busy', progress: null });
      const days = await sendAll();
      if (signal.aborted) return;
      if (days.length > 0) setShown({ kind: 'unsaved', days });
      else await start(format);
    },
    resume: () => job.current && void runJob(job.current),
    cancel() {
      stop.current?.abort();
      job.current = null;
      setShown({ kind: 'idle' });
    },
  };
}

/** The export formats. Each writer is loaded when its format is used. */
type Format = {
  value: string;
  label: string;
  hint: string;
  extension: string;
  type: string;
  writer: (today: Day) => Promise<FormatWriter>;
};

const FORMATS: readonly [Format, ...Format[]] = [
  {
    value: 'text',
    label: 'Plain text',
    hint: 'Opens in every app.',
    extension: 'txt',
    type: 'text/plain;charset=utf-8',
    writer: async () => (await import('#domain/export/formats/text-format.ts')).textWriter(),
  },
  {
    value: 'markdown',
    label: 'Markdown',
    hint: 'For notes apps. Keeps headings, lists and bold text.',
    extension: 'md',
    type: 'text/markdown;charset=utf-8',
    writer: async () => (await import('#domain/markdown/write-markdown.ts')).markdownWriter(),
  },
  {
    value: 'html',
    label: 'HTML',
    hint: 'One page to read or print.',
    extension: 'html',
    type: 'text/html;charset=utf-8',
    writer: async (today) => (await import('#domain/export/formats/html-format.ts')).htmlWriter({ today }),
  },
  {
    value: 'json',
    label: 'JSON',
    hint: 'Includes scores and feedback. Can be imported again without loss.',
    extension: 'json',
    type: 'application/json',
    writer: async () => (await import('#domain/export/formats/json-format.ts')).jsonWriter({ exportedAt: new Date() }),
  },
];

const fileName = (format: Format, today: Day): string => `hustle-forge-${today}.${format.extension}`;

/** `7.4 MB`, `12 KB`; decimal units, as file managers use. */
function sizeLabel(bytes: number): string {
  if (bytes < 1_000_000) return `${Math.max(1, Math.round(bytes / 1_000))} KB`;
  return `${(bytes / 1_000_000).toFixed(1)} MB`;
}
