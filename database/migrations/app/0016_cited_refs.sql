-- What a feedback calls each line that it cites: `3.2`, as the page shows it, or its first words. Beside `cited`, which has the
-- place of the same line among all lines with text. Null: the feedback was made before and cites by those places alone.

alter table public.analyses add column cited_refs text[];
comment on column public.analyses.cited is 'Places of the cited lines among all lines with text, from 1';

drop trigger never_changed on public.analyses;
create trigger never_changed before update of id, kind, period_from, period_to, input_hash, provider, model,
    model_version, prompt_version, finish_reason, input_tokens, output_tokens, duration_ms, score, text, cited,
    cited_refs, missing_fact, created_at
  on public.analyses for each statement execute function public.refuse_change_of_ledger();

grant select (cited_refs) on public.analyses to authenticated;
