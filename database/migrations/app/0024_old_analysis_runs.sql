-- phase: migrate
-- For the job that deletes the tries of earlier days (src/server/coach/purge-analysis-runs.ts).
create index concurrently if not exists analysis_runs_by_day on public.analysis_runs (counted_on);
