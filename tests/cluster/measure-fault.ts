/** Strikes with one fault under load, and measures how long saves were not accepted and what became of them. */
import { setTimeout as delay } from 'node:timers/promises';
import type { Cluster } from './cluster.ts';
import type { Fault } from './faults.ts';
import { compare, type Ledger } from './ledger.ts';
import { waitFor, waitUntilWhole, type Node } from './nodes.ts';
import { firstAnswerSince, longestOutage } from './outage.ts';
import type { Pages } from './pages.ts';
import type { Prober } from './prober.ts';
import type { Screen } from './screen.ts';
import type { Writers } from './writers.ts';

export type Load = { ledger: Ledger; prober: Prober; writers: Writers; pages: Pages; screen: Screen };

export type Measurement = {
  fault: string;
  /** Milliseconds from the fault until a new primary acknowledges a write sent to it directly; null without a failover. */
  failoverMs: number | null;
  /** From the fault until the server acknowledges a save on that primary; null without a failover. */
  savedMs: number | null;
  /** The longest time without an acknowledged save between the fault and its repair. */
  gapMs: number;
  /** Milliseconds from the fault until every page has saved the text typed since. */
  allPagesMs: number;
  /** The longest time without an acknowledged save while the fault was repaired. */
  repairGapMs: number;
  lost: number;
  doubled: number;
  failures: Record<string, number>;
  words: string[];
  problems: string[];
};

/** After a failover, a save must be acknowledged this soon after the new primary's first commit. */
const MAX_DELAY_MS = 2_000;
/** An answer that arrives this long after the former primary's last commit can only come from the new one. */
const FORMER_ANSWERS_MS = 500;
/** Saves on the new primary may begin this much sooner than the prober's first write there. */
const EARLY_MS = 1_000;
const FAILOVER_MS = 90_000;
/** The answers are observed for this time after the fault (after the failover, if there is one) and after the repair. */
const OBSERVED_MS = 6_000;
/** Longer than a page's longest backoff (30 s, plus up to half of it at random) and the timeout of a request (20 s). */
const ALL_PAGES_MS = 75_000;

export async function measureFault(fault: Fault, cluster: Cluster, load: Load): Promise<Measurement> {
  const { ledger, prober, writers, pages, screen } = load;
  const before = await waitUntilWhole();
  const problems: string[] = [];

  const { at: struckAt, silentSince = struckAt, repair } = await fault.strike();
  const early = writers.answers.filter(({ answeredAt }) => answeredAt >= silentSince && answeredAt < struckAt);
  if (early.length > 0) problems.push(`${String(early.length)} saves were acknowledged without a standby`);
  // A failover is over once another machine acknowledges a commit; Patroni names the new primary a little earlier.
  const recovered = fault.isFailover
    ? await waitFor('another primary', async () => findWriteElsewhere(prober, before, struckAt), FAILOVER_MS)
    : null;
  const findSaved = async () => longestOutage(writers.answers, struckAt);
  await waitFor(`an accepted save after: ${fault.name}`, findSaved, FAILOVER_MS);
  await delay(OBSERVED_MS);
  const gap = longestOutage(writers.answers, struckAt)!;
  // A former primary with a full disk still commits some saves, so only answers after its last commit count as
  // recovery.
  const since = recovered && Math.max(lastWriteOf(prober, before, struckAt), recovered.answeredAt - EARLY_MS);
  const savedAt = since && firstAnswerSince(writers.answers, since + FORMER_ANSWERS_MS);
  const resumedAt = savedAt ?? gap.to;
  await pages.waitUntilAllSaved(resumedAt, ALL_PAGES_MS).catch((error: Error) => problems.push(error.message));
  const allPagesMs = Date.now() - struckAt;

  const repairedAt = Date.now();
  problems.push(...(await repair()));
  await waitUntilWhole();
  await delay(OBSERVED_MS);
  const repairGap = longestOutage(writers.answers, repairedAt)!;
  // Later saves may be stored, but what was acknowledged until here must be.
  const acknowledged = ledger.copy();
  const { lost, doubled } = compare(acknowledged, await cluster.readItems());
  const hasFailed = screen.hasFailedSince(struckAt);
  const words = [...new Set((await screen.statusesSince(struckAt)).map(({ text }) => text))];

  if (lost.length > 0) problems.push(`lost: ${lost.slice(0, 10).join(', ')}`);
  if (doubled.length > 0) problems.push(`doubled: ${doubled.slice(0, 10).join(', ')}`);
  if (recovered && resumedAt > recovered.answeredAt + MAX_DELAY_MS)
    problems.push(`saves resumed ${String(resumedAt - recovered.answeredAt)} ms after the database`);
  if (hasFailed && !words.some((text) => text.startsWith('Not saved')))
    problems.push('the page did not say that its text is not saved');
  return {
    fault: fault.name,
    failoverMs: recovered && recovered.answeredAt - struckAt,
    savedMs: savedAt && savedAt - struckAt,
    ...{ gapMs: gap.to - gap.from, allPagesMs, repairGapMs: repairGap.to - repairGap.from },
    ...{ lost: lost.length, doubled: doubled.length, failures: countFailures(writers, struckAt), words, problems },
  };
}

const findWriteElsewhere = ({ writes }: Prober, former: Node, since: number) =>
  writes.find(({ node, sentAt }) => node !== former && sentAt >= since) ?? null;

/** When a machine acknowledged its last commit; `since` if that was earlier. */
const lastWriteOf = ({ writes }: Prober, node: Node, since: number): number =>
  writes.findLast((write) => write.node === node && write.answeredAt >= since)?.answeredAt ?? since;

function countFailures({ failures }: Writers, since: number): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const { at, kind } of failures) if (at >= since) counts[kind] = (counts[kind] ?? 0) + 1;
  return counts;
}
