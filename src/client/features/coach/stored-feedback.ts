/** What the coach said about a day, put together from the two rows that hold it. */
import { toCitations, labelLineNumbers } from '#domain/coach/citations.ts';
import type { Citation } from '#domain/coach/citations.ts';

export type StoredFeedback = {
  score: number | null;
  feedback: string;
  cited: readonly Citation[];
  missingFact: string | null;
  analyzedAt: string;
  upToDate: boolean;
};

type EntryRow = {
  ai_feedback: string | null;
  hustle_score: number | null;
  ai_analyzed_at: string | null;
  updated_at: string;
};
type AnalysisRow = { text: string; cited: number[]; cited_refs: string[] | null; missing_fact: string | null };

/** `analysis`: the newest of the day, which another client or an import may have replaced in the entry. */
export function storedFeedback(entry: EntryRow | null, analysis: AnalysisRow | null): StoredFeedback | null {
  if (!entry?.ai_feedback || !entry.ai_analyzed_at) return null;
  const known = analysis?.text === entry.ai_feedback ? analysis : null;
  // Made before citations named what the page shows.
  const written = known?.cited_refs === null ? labelLineNumbers : (text: string): string => text;
  return {
    score: entry.hustle_score,
    feedback: written(entry.ai_feedback),
    cited: known ? toCitations(known.cited, known.cited_refs) : [],
    missingFact: known?.missing_fact ? written(known.missing_fact) : null,
    analyzedAt: entry.ai_analyzed_at,
    upToDate: entry.ai_analyzed_at >= entry.updated_at,
  };
}
