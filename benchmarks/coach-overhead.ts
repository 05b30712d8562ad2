/**
 * Measures the overhead of the feedback function until the first text, compared with a direct call through the AI SDK
 * (interleaved samples), and the memory of two hundred concurrent streams. The model is the simulator in a separate
 * process; its own latency is negligible, so that the overhead is visible.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { citableLines } from '#domain/coach/citations.ts';
import { readConfig } from '#server/config/config.ts';
import { createCoachModel } from '#server/coach/model/create-model.ts';
import type { CoachModel } from '#server/coach/model/model.ts';
import { FEEDBACK_SCHEMA, feedbackPrompt, fenceData, MAX_OUTPUT_TOKENS } from '#server/coach/prompts.ts';
import type { Fault } from '../simulators/ai-model/faults.ts';
import { modelSettingsAt } from '../simulators/ai-model/server.ts';
import { CoachJournal, daysAgo, today, type Closer } from './coach/closer.ts';
import { toEditorHtml } from './coach/logs.ts';
import { percentile, printFigures, type Figure } from './figures.ts';
import { residentMegabytes, startProcess } from './processes.ts';

const WARM_UP = 60;
const ROUNDS = 6;
const SAMPLES_PER_ROUND = 50;
const LIMIT_MS = 15;
const PANELS = 200;
/** The limit of concurrent analyses per user. */
const PANELS_PER_USER = 5;
const LIMIT_MEGABYTES = 150;
/** Each panel's stream has received this many chunks when memory is measured. */
const CHUNKS = 6;
const LINES = [
  'Found the double charge: two workers took the same row because the lock was released before the commit',
  'Fixed it, wrote the test that fails without the fix, and ran it 5,000 times',
  'Deployed at 14:10; no duplicate since, 38 an hour before',
];

const model = await startProcess('benchmarks/model-server.ts', {}, '/');
const journal = await CoachJournal.open();
try {
  const settings = modelSettingsAt(model.url);
  await journal.start(settings);
  const closers: Closer[] = [];
  for (let index = 0; index < PANELS / PANELS_PER_USER; index += 1) {
    const closer = await journal.signUp(`panels-${index}`);
    const days = Array.from({ length: PANELS_PER_USER }, (_, ago) => ({ date: daysAgo(ago), lines: LINES }));
    await journal.write(closer, days);
    closers.push(closer);
  }
  const closer = closers[0]!;
  const memory = await measurePanelMemory(closers);
  const { coach } = readConfig(settings);
  const overhead = await measureOverhead(closer, createCoachModel(coach!));
  printFigures('The coach', [...overhead, ...memory]);
} finally {
  await journal.close();
  await model.stop();
}

async function measureOverhead(closer: Closer, straight: CoachModel): Promise<Figure[]> {
  const ways = { ours: () => msToFirstTextOfProduct(closer), straight: () => msToFirstText(straight) };
  const times = { ours: [] as number[], straight: [] as number[] };
  for (let sample = -WARM_UP; sample < ROUNDS * SAMPLES_PER_ROUND; sample += 1) {
    const order = sample % 2 === 0 ? (['ours', 'straight'] as const) : (['straight', 'ours'] as const);
    for (const way of order) {
      const ms = await ways[way]();
      if (sample >= 0) times[way].push(ms);
    }
  }
  const beyond = (percent: number, from = 0, to?: number): number =>
    percentile(times.ours.slice(from, to), percent) - percentile(times.straight.slice(from, to), percent);
  const describe = (percent: number): string =>
    `${beyond(percent).toFixed(1)} ms (${percentile(times.ours, percent).toFixed(1)} ms against ` +
    `${percentile(times.straight, percent).toFixed(1)} ms straight)`;
  // Other load on the machine only adds time, so the fastest round is closest to the real overhead.
  const rounds = Array.from({ length: ROUNDS }, (_, round) =>
    beyond(50, round * SAMPLES_PER_ROUND, (round + 1) * SAMPLES_PER_ROUND),
  );
  return [
    {
      what: 'until the first words, beyond the model and its library, p50',
      measured: `${describe(50)}; p90 ${describe(90)}; p50 of the quietest round ${Math.min(...rounds).toFixed(1)} ms`,
      target: `at most ${LIMIT_MS} ms`,
      isMet: beyond(50) <= LIMIT_MS,
    },
  ];
}

/** Reads the stream to its end, so that leftover work does not affect the next sample. */
async function msToFirstText(straight: CoachModel): Promise<number> {
  const earlier = [1, 2, 3].map((days) => ({ date: daysAgo(days), text: LINES.join('\n') }));
  const { data, ...instructions } = feedbackPrompt(
    { date: today, lines: citableLines(toEditorHtml(LINES)), earlier },
    'object',
  );
  const startedAt = performance.now();
  let first: number | null = null;
  const question = {
    ...instructions,
    schema: FEEDBACK_SCHEMA,
    prompt: fenceData(data),
    maxOutputTokens: MAX_OUTPUT_TOKENS.feedback,
  };
  for await (const part of straight.stream(question, new AbortController().signal)) {
    if (part.type === 'reply') first ??= performance.now() - startedAt;
  }
  if (first === null) throw new Error('the model returned no text');
  return first;
}

async function msToFirstTextOfProduct(closer: Closer): Promise<number> {
  const startedAt = performance.now();
  const answer = await journal.ask(closer, today);
  let first: number | null = null;
  const text = await readText(answer, (soFar) => {
    if (/^event: (?:score|text)/m.test(soFar)) first ??= performance.now() - startedAt;
  });
  if (first === null || !/^event: done/m.test(text)) throw new Error(`no feedback: ${answer.status} ${text}`);
  return first;
}

async function measurePanelMemory(closers: readonly Closer[]): Promise<Figure[]> {
  const { pid } = journal.app;
  const atRest = await residentMegabytes(pid);
  // The first analysis loads the AI SDK, which is reported separately from the cost per panel.
  await msToFirstTextOfProduct(closers[0]!);
  const loaded = await residentMegabytes(pid);
  await sendCommand('fail', { hold: 'after', after: CHUNKS, times: PANELS } satisfies Fault);
  const answers = Array.from({ length: PANELS }, async (_, panel) => {
    const answer = await journal.ask(closers[Math.floor(panel / PANELS_PER_USER)]!, daysAgo(panel % PANELS_PER_USER));
    return readText(answer, () => undefined);
  });
  await sendCommand('held', { count: PANELS });
  const all = Promise.all(answers);
  let peak = 0;
  for (let sample = 0; sample < 10; sample += 1) {
    peak = Math.max(peak, (await residentMegabytes(pid)) ?? Number.NaN);
    await delay(100);
  }
  await sendCommand('release', {});
  const finished = (await all).filter((text) => /^event: done/m.test(text)).length;
  if (finished !== PANELS) throw new Error(`only ${finished} of ${PANELS} streams completed`);
  const grown = atRest === null ? null : peak - atRest;
  return [
    {
      what: `${PANELS} panels that stream at once, memory of the Node process`,
      measured:
        grown === null
          ? 'not measured on this system'
          : `${grown.toFixed(0)} MB more than before the first question (${atRest!.toFixed(0)} MB then, ` +
            `${loaded!.toFixed(0)} MB after the first analysis, ${peak.toFixed(0)} MB with all of them)`,
      target: `at most ${LIMIT_MEGABYTES} MB more`,
      isMet: grown !== null && grown <= LIMIT_MEGABYTES,
    },
  ];
}

async function sendCommand(name: string, body: object): Promise<void> {
  const answer = await fetch(`${model.url}/__simulator/${name}`, { method: 'POST', body: JSON.stringify(body) });
  if (!answer.ok) throw new Error(`the simulator rejected ${name}: ${answer.status}`);
}

async function readText(answer: Response, onText: (soFar: string) => void): Promise<string> {
  const decoder = new TextDecoder();
  let text = '';
  for await (const bytes of answer.body!) {
    text += decoder.decode(bytes, { stream: true });
    onText(text);
  }
  return text;
}
