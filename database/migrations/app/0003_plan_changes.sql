-- The ledger of plans: one row for every change, never updated and never deleted.

create table public.plan_changes (
  -- No foreign key: what was paid and granted must outlive the account.
  user_id uuid not null,
  id bigint generated always as identity,
  plan text not null constraint plan_changes_known_plan check (plan in ('free', 'premium')),
  access_valid_until date,
  -- What brought the change about: 'operator grant', 'payment', 'expiry', ...
  reason text not null constraint plan_changes_reason check (reason <> ''),
  changed_at timestamptz not null default now(),
  primary key (user_id, id)
);

create function public.refuse_change_of_ledger() returns trigger
  language plpgsql set search_path = ''
as $$
begin
  raise exception 'rows of % are never changed', tg_table_name using errcode = 'restrict_violation';
end
$$;

-- For whoever the grants below do not stop: the owner, a superuser.
create trigger only_added_to before update or delete or truncate on public.plan_changes
  for each statement execute function public.refuse_change_of_ledger();

alter table public.plan_changes enable row level security;
alter table public.plan_changes force row level security;

create policy "own plan changes are read" on public.plan_changes
  for select to authenticated using (user_id = (select auth.uid()));

revoke all on public.plan_changes from anon, authenticated, service_role;
grant select on public.plan_changes to authenticated;
grant select, insert on public.plan_changes to service_role;
