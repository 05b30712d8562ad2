-- What the coach said, and which analyses are being made at this moment. src/server/coach writes both.

create table public.analyses (
  user_id uuid not null references auth.users on delete cascade,
  id uuid not null default gen_random_uuid(),
  kind text not null constraint analyses_known_kind check (kind in ('feedback', 'trend')),
  -- The day of a feedback; the first and the last day of a trend.
  date date,
  period_from date,
  period_to date,
  -- Of everything that decides the answer: the words, the prompt's version, the model. The same is never paid for twice.
  input_hash text not null,
  provider text not null,
  model text not null,
  -- What the provider says has answered: an alias moves on.
  model_version text,
  prompt_version integer not null,
  finish_reason text not null,
  input_tokens integer,
  output_tokens integer,
  duration_ms integer not null,
  score integer constraint analyses_score_range check (score between 1 and 10),
  text text not null,
  -- Numbers of the log's items, counted from 1.
  cited smallint[] not null default '{}',
  missing_fact text,
  created_at timestamptz not null default now(),
  primary key (user_id, id),
  constraint analyses_whole check (
    (kind = 'feedback' and date is not null and score is not null and period_from is null and period_to is null)
    or (kind = 'trend' and date is null and score is null and period_from <= period_to)),
  -- What was said about a day goes with the day.
  constraint analyses_of_entry foreign key (user_id, date) references public.entries
    on delete cascade on update cascade
);
create index analyses_by_input on public.analyses (user_id, kind, input_hash, created_at desc);
create index analyses_of_day on public.analyses (user_id, date, created_at desc) where date is not null;

-- Never changed, whoever asks; deleted with the account or the day alone. `user_id` and `date` follow the entry.
create trigger never_changed before update of id, kind, period_from, period_to, input_hash, provider, model,
    model_version, prompt_version, finish_reason, input_tokens, output_tokens, duration_ms, score, text, cited,
    missing_fact, created_at
  on public.analyses for each statement execute function public.refuse_change_of_ledger();

-- One row for each day or period that was analysed of late: who is at it, and how often it was tried.
create table public.analysis_runs (
  user_id uuid not null references auth.users on delete cascade,
  kind text not null constraint analysis_runs_known_kind check (kind in ('feedback', 'trend')),
  -- The day, or the period with its last day.
  key text not null,
  -- Names the try that holds the claim, so that one whose lease ran out stores nothing.
  run uuid not null,
  -- Whoever made the claim works alone until then. A process that died is followed by the next one.
  lease_until timestamptz not null,
  -- Tries of one day (UTC), for the daily budget: an analysis that its reader left was paid for as well.
  counted_on date not null,
  tries integer not null,
  primary key (user_id, kind, key)
);

alter table public.analyses enable row level security;
alter table public.analyses force row level security;
alter table public.analysis_runs enable row level security;
alter table public.analysis_runs force row level security;

create policy "own analyses are read by a Closer" on public.analyses
  for select to authenticated
  using (user_id = (select auth.uid()) and (select public.is_premium()));

revoke all on public.analyses, public.analysis_runs from anon, authenticated, service_role;
grant select (user_id, id, kind, date, period_from, period_to, provider, model, score, text, cited, missing_fact,
  created_at) on public.analyses to authenticated;
grant select, insert on public.analyses to service_role;
grant select, insert, update, delete on public.analysis_runs to service_role;
