-- What a paid plan was used for: refunds go by it (more than 3 analyses or one export is "significantly used").

create table public.plan_uses (
  -- No foreign key: what a refund was judged by must outlive the account.
  user_id uuid not null,
  id bigint generated always as identity,
  kind text not null constraint plan_uses_known_kind check (kind in ('export', 'analysis')),
  used_at timestamptz not null default now(),
  primary key (user_id, id)
);

create trigger only_added_to before update or delete or truncate on public.plan_uses
  for each statement execute function public.refuse_change_of_ledger();

alter table public.plan_uses enable row level security;
alter table public.plan_uses force row level security;

create policy "own uses of the plan are read" on public.plan_uses
  for select to authenticated using (user_id = (select auth.uid()));

revoke all on public.plan_uses from anon, authenticated, service_role;
grant select on public.plan_uses to authenticated;
grant select, insert on public.plan_uses to service_role;
