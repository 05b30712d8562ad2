/** Builds a day's feedback from its entry and analysis rows. */
import { toCitations, labelLineNumbers, type Citation } from '#domain/coach/citations.ts';

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

/** `analysis`: the day's newest. If another client or an import wrote the entry's feedback, the analysis is ignored. */
export function toStoredFeedback(entry: EntryRow | null, analysis: AnalysisRow | null): StoredFeedback | null {
  if (!entry?.ai_feedback || !entry.ai_analyzed_at) return null;
  const matching = analysis?.text === entry.ai_feedback ? analysis : null;
  // Analyses of earlier prompts have no `cited_refs`. Their texts cite `[4]`, which becomes `[line 4]`.
  const relabel = matching?.cited_refs === null ? labelLineNumbers : (text: string): string => text;
  return {
    score: entry.hustle_score,
    feedback: relabel(entry.ai_feedback),
    cited: matching ? toCitations(matching.cited, matching.cited_refs) : [],
    missingFact: matching?.missing_fact ? relabel(matching.missing_fact) : null,
    analyzedAt: entry.ai_analyzed_at,
    upToDate: entry.ai_analyzed_at >= entry.updated_at,
  };
}
