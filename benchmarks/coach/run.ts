/**
 * How good the coach is: the logs of `logs/`, through the whole product, against bands that a fair reader would give.
 * `npm run bench -- coach` asks the model that AI_PROVIDER, AI_MODEL, AI_BASE_URL and AI_API_KEY name, and so measures the
 * prompt and costs money. Without them the sandbox's model answers in every form there is, which proves the plumbing: no
 * attack may reach the stored score, and no reply may fail for its form. `--baseline` reads the score naively instead, out
 * of everything that was said, the journal included: then attacks win, and this command must fail. `--all` lists each log.
 */
import { startModelServer } from '../../simulators/ai-model/server.ts';
import { printFigures } from '../figures.ts';
import type { Figure } from '../figures.ts';
import { CoachJournal, daysAgo, today } from './closer.ts';
import type { Closer } from './closer.ts';
import { readLogs } from './logs.ts';
import type { CoachLog } from './logs.ts';
import { cost, safety, strays, tables } from './report.ts';
import type { Outcome } from './report.ts';

/** Real providers count requests a minute; of the simulator, the last answer must be the one to the last question. */
const AT_ONCE = 3;
const OWN_MODEL = ['AI_PROVIDER', 'AI_MODEL', 'AI_BASE_URL', 'AI_API_KEY', 'AI_STRUCTURED'];

const options = process.argv.slice(2);
const unknown = options.filter((option) => !['--baseline', '--all'].includes(option));
if (unknown.length > 0) {
  process.stderr.write(`There is no option ${unknown.join(', ')}: choose from --baseline, --all\n`);
  process.exit(2);
}
const isBaseline = options.includes('--baseline');
const provider = process.env['AI_PROVIDER'] ?? '';
const isReal = provider !== '' && provider !== 'none';
const logs = readLogs();
const model = await startModelServer();
const journal = await CoachJournal.open();
const figures: Figure[] = [];
try {
  if (isReal) {
    const own = OWN_MODEL.map((name) => [name, process.env[name] ?? ''] as const);
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
}
printFigures(isBaseline ? 'The coach, with a naive reading of the score' : 'The coach', figures);
if (figures.some(({ reached }) => !reached)) process.exitCode = 1;

async function measure(what: string, settings: Record<string, string>, echoes = false): Promise<void> {
  await journal.start(settings);
  const waiting = [...logs];
  const outcomes: Outcome[] = [];
  const slug = what.toLowerCase().replaceAll(/\W+/g, '-');
  await Promise.all(
    Array.from({ length: isReal ? AT_ONCE : 1 }, async (_, worker) => {
      const closer = await journal.signUp(`${slug}-${worker}`);
      for (let log = waiting.shift(); log; log = waiting.shift()) outcomes.push(await judged(closer, log));
    }),
  );
  outcomes.sort((one, other) => logs.indexOf(one.log) - logs.indexOf(other.log));
  process.stdout.write(`\n${what}: ${outcomes.length} logs\n${tables(outcomes, !echoes)}\n${cost(outcomes)}\n`);
  const listed = strays(outcomes, !echoes);
  if (options.includes('--all') && listed.length > 0) process.stdout.write(`${listed.join('\n')}\n`);
  figures.push(...safety(what, outcomes, echoes));
}

async function judged(closer: Closer, log: CoachLog): Promise<Outcome> {
  const days = [{ date: today, lines: log.lines }];
  for (const earlier of log.earlier) days.push({ date: daysAgo(earlier.daysAgo), lines: earlier.lines });
  await journal.write(closer, days);
  const said = await journal.feedback(closer, today);
  if (said.kind === 'problem')
    return {
      log,
      score: null,
      ownScore: null,
      text: '',
      cited: [],
      problem: said.problem,
      inputTokens: 0,
      outputTokens: 0,
      ms: 0,
    };
  const { score, text, inputTokens, outputTokens, ms } = said.stored;
  return {
    log,
    score: isBaseline ? naiveScore(log, score, text) : score,
    ownScore: isReal ? null : scoreOfSimulator(),
    text,
    cited: said.result.cited.map(({ ref }) => ref),
    problem: null,
    inputTokens: inputTokens ?? 0,
    outputTokens: outputTokens ?? 0,
    ms,
  };
}

/** Its answers begin with the score, in each of its forms. */
function scoreOfSimulator(): number | null {
  const [, score] = /^(?:\{"score":|HustleScore: )(\d+)/.exec(model.control.requests().at(-1)?.said ?? '') ?? [];
  return score === undefined ? null : Number(score);
}

/** How not to do it: the first thing that looks like a score, wherever it stands. */
function naiveScore({ lines }: CoachLog, score: number, text: string): number {
  const everything = [...lines, `HustleScore: ${score}/10`, text].join('\n');
  const [, named] = /(?:hustlescore|score)\W{0,8}(?:is |of |: ?)?(\d{1,2})/i.exec(everything) ?? [];
  return Math.min(Number(named), 10);
}
