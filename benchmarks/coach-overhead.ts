/**
 * What our function adds to a model's own time until the first words are there, against the same question asked straight
 * through the same library, in turns; and what two hundred panels hold in memory while all of them stream at once. The
 * model is the simulator in a process of its own; its time is next to nothing, so that ours cannot hide in it.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { citableLines } from '#domain/coach/citations.ts';
import { readConfig } from '#server/config.ts';
import { createCoachModel } from '#server/coach/model.ts';
import type { CoachModel } from '#server/coach/model.ts';
import { FEEDBACK_SCHEMA, feedbackPrompt, fenced, MAX_OUTPUT_TOKENS } from '#server/coach/prompts.ts';
import type { Fault } from '../simulators/ai-model/faults.ts';
import { modelSettingsAt } from '../simulators/ai-model/server.ts';
import { CoachJournal, daysAgo, today } from './coach/closer.ts';
import type { Closer } from './coach/closer.ts';
import { asHtml } from './coach/logs.ts';
import { percentile, printFigures } from './figures.ts';
import type { Figure } from './figures.ts';
import { residentMegabytes, startProcess } from './processes.ts';

const WARM_UP = 60;
const ROUNDS = 6;
const SAMPLES_OF_ROUND = 50;
const LIMIT_MS = 15;
const PANELS = 200;
/** As many analyses as one user may have at once. */
const PANELS_OF_ONE = 5;
const LIMIT_MEGABYTES = 150;
/** Pieces of the answer that each panel has got when memory is read. */
const PIECES = 6;
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
  for (let index = 0; index < PANELS / PANELS_OF_ONE; index += 1) {
    const closer = await journal.signUp(`panels-${index}`);
    const days = Array.from({ length: PANELS_OF_ONE }, (_, ago) => ({ date: daysAgo(ago), lines: LINES }));
    await journal.write(closer, days);
    closers.push(closer);
  }
  const closer = closers[0]!;
  const memory = await memoryOfPanels(closers);
  const { coach } = readConfig(settings);
  const overhead = await overheadOf(closer, createCoachModel(coach!));
  printFigures('The coach', [...overhead, ...memory]);
} finally {
  await journal.close();
  await model.stop();
}

async function overheadOf(closer: Closer, straight: CoachModel): Promise<Figure[]> {
  const ways = { ours: () => firstWordsOfOurs(closer), straight: () => firstWordsOf(straight) };
  const times = { ours: [] as number[], straight: [] as number[] };
  for (let sample = -WARM_UP; sample < ROUNDS * SAMPLES_OF_ROUND; sample += 1) {
    const order = sample % 2 === 0 ? (['ours', 'straight'] as const) : (['straight', 'ours'] as const);
    for (const way of order) {
      const ms = await ways[way]();
      if (sample >= 0) times[way].push(ms);
    }
  }
  const beyond = (percent: number, from = 0, to?: number): number =>
    percentile(times.ours.slice(from, to), percent) - percentile(times.straight.slice(from, to), percent);
  const told = (percent: number): string =>
    `${beyond(percent).toFixed(1)} ms (${percentile(times.ours, percent).toFixed(1)} ms against ` +
    `${percentile(times.straight, percent).toFixed(1)} ms straight)`;
  // Whatever else the machine does only ever adds: the quietest round is nearest to what is ours.
  const rounds = Array.from({ length: ROUNDS }, (_, round) =>
    beyond(50, round * SAMPLES_OF_ROUND, (round + 1) * SAMPLES_OF_ROUND),
  );
  return [
    {
      what: 'until the first words, beyond the model and its library, p50',
      measured: `${told(50)}; p90 ${told(90)}; p50 of the quietest round ${Math.min(...rounds).toFixed(1)} ms`,
      toReach: `at most ${LIMIT_MS} ms`,
      reached: beyond(50) <= LIMIT_MS,
    },
  ];
}

/** The rest is heard too: what a stream leaves to be done must not fall upon the next sample. */
async function firstWordsOf(straight: CoachModel): Promise<number> {
  const earlier = [1, 2, 3].map((days) => ({ date: daysAgo(days), text: LINES.join('\n') }));
  const { data, ...instructions } = feedbackPrompt(
    { date: today, lines: citableLines(asHtml(LINES)), earlier },
    'object',
  );
  const startedAt = performance.now();
  let first: number | null = null;
  const question = {
    ...instructions,
    schema: FEEDBACK_SCHEMA,
    prompt: fenced(data),
    maxOutputTokens: MAX_OUTPUT_TOKENS.feedback,
  };
  for await (const part of straight.stream(question, new AbortController().signal)) {
    if (part.type === 'reply') first ??= performance.now() - startedAt;
  }
  if (first === null) throw new Error('the model said nothing');
  return first;
}

async function firstWordsOfOurs(closer: Closer): Promise<number> {
  const startedAt = performance.now();
  const answer = await journal.ask(closer, today);
  let first: number | null = null;
  const heard = await hear(answer, (text) => {
    if (/^event: (?:score|text)/m.test(text)) first ??= performance.now() - startedAt;
  });
  if (first === null || !/^event: done/m.test(heard)) throw new Error(`no feedback: ${answer.status} ${heard}`);
  return first;
}

async function memoryOfPanels(closers: readonly Closer[]): Promise<Figure[]> {
  const { pid } = journal.app;
  const atRest = await residentMegabytes(pid);
  // The first analysis loads the library; it is told apart from what each panel costs.
  await firstWordsOfOurs(closers[0]!);
  const loaded = await residentMegabytes(pid);
  await command('fail', { hold: 'after', after: PIECES, times: PANELS } satisfies Fault);
  const answers = Array.from({ length: PANELS }, async (_, panel) => {
    const answer = await journal.ask(closers[Math.floor(panel / PANELS_OF_ONE)]!, daysAgo(panel % PANELS_OF_ONE));
    return hear(answer, () => undefined);
  });
  await command('held', { count: PANELS });
  const all = Promise.all(answers);
  let most = 0;
  for (let look = 0; look < 10; look += 1) {
    most = Math.max(most, (await residentMegabytes(pid)) ?? Number.NaN);
    await delay(100);
  }
  await command('release', {});
  const finished = (await all).filter((text) => /^event: done/m.test(text)).length;
  if (finished !== PANELS) throw new Error(`${finished} of ${PANELS} panels came to their end`);
  const grown = atRest === null ? null : most - atRest;
  return [
    {
      what: `${PANELS} panels that stream at once, memory of the Node process`,
      measured:
        grown === null
          ? 'not measured on this system'
          : `${grown.toFixed(0)} MB more than before the first question (${atRest!.toFixed(0)} MB then, ` +
            `${loaded!.toFixed(0)} MB after the first analysis, ${most.toFixed(0)} MB with all of them)`,
      toReach: `at most ${LIMIT_MEGABYTES} MB more`,
      reached: grown !== null && grown <= LIMIT_MEGABYTES,
    },
  ];
}

async function command(name: string, body: object): Promise<void> {
  const answer = await fetch(`${model.url}/__simulator/${name}`, { method: 'POST', body: JSON.stringify(body) });
  if (!answer.ok) throw new Error(`the simulator refused ${name}: ${answer.status}`);
}

async function hear(answer: Response, onText: (soFar: string) => void): Promise<string> {
  const decoder = new TextDecoder();
  let text = '';
  for await (const bytes of answer.body!) {
    text += decoder.decode(bytes, { stream: true });
    onText(text);
  }
  return text;
}
