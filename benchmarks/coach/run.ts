/**
 * Evaluates the coach: sends the logs of `logs/` through the whole product and compares the scores with expected bands.
 *
 * With AI_PROVIDER, AI_MODEL, AI_BASE_URL and AI_API_KEY, `npm run bench -- coach` evaluates the prompt with that
 * model, which costs money. Otherwise the simulated model answers in every format: no attack may change the stored
 * score, and no reply may fail because of its format. `--baseline` parses the score naively from all text, including
 * the log: then attacks succeed and the command must fail. `--all` lists each log that `listFailures` finds.
 *
 * `--local-model` installs a small model that nobody of this project wrote (`local-model.ts`) and counts how many of
 * its replies are read as they are, repaired and refused. At that size its judgement is worthless, but its manners are
 * real. `--sample` sends every fourth log.
 */
import { startModelServer } from '../../simulators/ai-model/server.ts';
import { printFigures, type Figure } from '../figures.ts';
import { CoachJournal, daysAgo, today, type Closer } from './closer.ts';
import { readLogs, type CoachLog } from './logs.ts';
import { startLocalModel } from './local-model.ts';
import {
  describeCost,
  describeReplies,
  listFailures,
  mannerFigures,
  renderTable,
  safetyFigures,
  type Outcome,
} from './report.ts';

/** Limited by the rate limits of real providers. The simulator gets one request at a time: see readSimulatorScore. */
const MAX_CONCURRENT = 3;
const MODEL_SETTINGS = ['AI_PROVIDER', 'AI_MODEL', 'AI_BASE_URL', 'AI_API_KEY', 'AI_STRUCTURED'];

const options = process.argv.slice(2);
const OPTIONS = ['--baseline', '--all', '--local-model', '--sample'];
const unknown = options.filter((option) => !OPTIONS.includes(option));
if (unknown.length > 0) {
  process.stderr.write(`Unknown option ${unknown.join(', ')}: choose from ${OPTIONS.join(', ')}\n`);
  process.exit(2);
}
const isBaseline = options.includes('--baseline');
const provider = process.env['AI_PROVIDER'] ?? '';
const local = options.includes('--local-model') ? await startLocalModel() : null;
const isReal = local === null && provider !== '' && provider !== 'none';
const SAMPLE_STEP = 4;
const logs = readLogs().filter((_, index) => !options.includes('--sample') || index % SAMPLE_STEP === 0);
const model = await startModelServer();
const journal = await CoachJournal.open();
const figures: Figure[] = [];
try {
  if (local) {
    for (const structured of ['schema', 'json', 'text'])
      await measure(`SmolLM2 by ${structured}`, { ...local.settings, AI_STRUCTURED: structured });
  } else if (isReal) {
    const own = MODEL_SETTINGS.map((name) => [name, process.env[name] ?? ''] as const);
    await measure(provider, Object.fromEntries(own.filter(([, value]) => value !== '')));
  } else {
    const { google, anthropic, openai } = {
      google: model.settingsFor('google'),
      anthropic: model.settingsFor('anthropic'),
      openai: model.settingsFor('openai-compatible'),
    };
    if (!isBaseline) {
      await measure('Gemini by schema', { ...google, AI_STRUCTURED: 'schema' });
      await measure('Anthropic by schema', { ...anthropic, AI_STRUCTURED: 'schema' });
      await measure('OpenAI by JSON', { ...openai, AI_STRUCTURED: 'json' });
    }
    await measure('Gemini by text', { ...google, AI_STRUCTURED: 'text' });
    if (!isBaseline) {
      model.control.fail({ echo: true, times: Number.MAX_SAFE_INTEGER });
      await measure('text that repeats the log', { ...openai, AI_STRUCTURED: 'text' }, true);
    }
  }
} finally {
  await journal.close();
  await model.close();
  await local?.close();
}
printFigures(isBaseline ? 'The coach, with a naive reading of the score' : 'The coach', figures);
if (figures.some(({ isMet }) => !isMet)) process.exitCode = 1;

async function measure(what: string, settings: Record<string, string>, echoes = false): Promise<void> {
  await journal.start(settings);
  const waiting = [...logs];
  const outcomes: Outcome[] = [];
  const slug = what.toLowerCase().replaceAll(/\W+/g, '-');
  await Promise.all(
    Array.from({ length: isReal ? MAX_CONCURRENT : 1 }, async (_, worker) => {
      const closer = await journal.signUp(`${slug}-${worker}`);
      for (let log = waiting.shift(); log; log = waiting.shift()) outcomes.push(await evaluateLog(closer, log));
    }),
  );
  outcomes.sort((one, other) => logs.indexOf(one.log) - logs.indexOf(other.log));
  process.stdout.write(
    `\n${what}: ${outcomes.length} logs\n${renderTable(outcomes, !echoes)}\n${describeCost(outcomes)}\n`,
  );
  const listed = listFailures(outcomes, !echoes);
  if (options.includes('--all') && listed.length > 0) process.stdout.write(`${listed.join('\n')}\n`);
  if (local) process.stdout.write(`${describeReplies(outcomes)}\n`);
  figures.push(...(local ? mannerFigures(what, outcomes) : safetyFigures(what, outcomes, echoes)));
}

async function evaluateLog(closer: Closer, log: CoachLog): Promise<Outcome> {
  const days = [{ date: today, lines: log.lines }];
  for (const earlier of log.earlier) days.push({ date: daysAgo(earlier.daysAgo), lines: earlier.lines });
  await journal.write(closer, days);
  const outcome = await journal.feedback(closer, today);
  if (outcome.kind === 'problem')
    return {
      log,
      score: null,
      ownScore: null,
      reply: local?.lastReply() ?? null,
      text: '',
      cited: [],
      problem: outcome.problem,
      inputTokens: 0,
      outputTokens: 0,
      ms: 0,
    };
  const { score, text, inputTokens, outputTokens, ms } = outcome.stored;
  return {
    log,
    score: isBaseline ? parseScoreNaively(log, score, text) : score,
    ownScore: isReal || local ? null : readSimulatorScore(),
    reply: local?.lastReply() ?? null,
    text,
    cited: outcome.result.cited.map(({ ref }) => ref),
    problem: null,
    inputTokens: inputTokens ?? 0,
    outputTokens: outputTokens ?? 0,
    ms,
  };
}

/** Reads the score from the start of the simulator's last answer, in any format. */
function readSimulatorScore(): number | null {
  const [, score] = /^(?:\{"score":|HustleScore: )(\d+)/.exec(model.control.requests().at(-1)?.answer ?? '') ?? [];
  return score === undefined ? null : Number(score);
}

/** The insecure baseline: takes the first text that looks like a score, including text from the log. */
function parseScoreNaively({ lines }: CoachLog, score: number, text: string): number {
  const everything = [...lines, `HustleScore: ${score}/10`, text].join('\n');
  const [, named] = /(?:hustlescore|score)\W{0,8}(?:is |of |: ?)?(\d{1,2})/i.exec(everything) ?? [];
  return Math.min(Number(named), 10);
}
