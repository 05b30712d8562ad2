-- phase: expand
-- Kept reviews (docs/specification/year.md 1): what the coach wrote about a period stays until its owner deletes it, also after
-- its days have changed. `analyses` stays the cache of answers by their input, which `follow_entry` clears.
create table public.reviews (
  user_id uuid not null references auth.users on delete cascade,
  -- The id of the analysis that wrote it.
  id uuid not null default gen_random_uuid(),
  period text not null constraint reviews_known_period check (period in ('7-day', '30-day', 'quarter', 'year')),
  period_from date not null,
  period_to date not null,
  -- The days with a log that were read; null for a review that is older than this table.
  entry_count integer,
  text text not null,
  -- Of the logs that were read; null for a review that is older than this table.
  logs_fingerprint text,
  created_at timestamptz not null default now(),
  primary key (user_id, id),
  constraint reviews_period_order check (period_from <= period_to)
);
create index reviews_newest_first on public.reviews (user_id, created_at desc);

-- Before row-level security is forced, which binds the owner as well.
insert into public.reviews (user_id, id, period, period_from, period_to, text, created_at)
  select user_id, id, case when period_to - period_from < 7 then '7-day' else '30-day' end,
         period_from, period_to, text, created_at
    from public.analyses where kind = 'trend';

-- The caller's logs of a period as one text that differs after every change of them. It runs with the caller's rights.
create function public.fingerprint_logs(from_day date, to_day date) returns text
  language sql stable set search_path = ''
return (
  select md5(coalesce(string_agg(concat_ws(' ', date, id, revision), ',' order by date), ''))
    from public.entries
   where user_id = (select auth.uid()) and date between from_day and to_day and content_text <> '');

-- With the owner's rights: the policies of `entries` hide locked days, and each review of them would count as changed. It
-- answers about the caller's own logs, and with nothing but yes or no.
create function public.have_logs_changed(from_day date, to_day date, fingerprint text, since timestamptz) returns boolean
  language sql stable security definer set search_path = ''
return case
  when fingerprint is not null then fingerprint <> public.fingerprint_logs(from_day, to_day)
  else exists (
    select from public.entries
     where user_id = (select auth.uid()) and date between from_day and to_day and updated_at > since) end;

-- With the owner's rights, because a policy that reads its own table never ends.
create function public.newest_review() returns uuid
  language sql stable security definer set search_path = ''
return (
  select id from public.reviews where user_id = (select auth.uid()) order by created_at desc, id limit 1);

-- A deleted review leaves nothing behind: the cache has the same text, or the version of a deleted day that took the cached
-- answer along. As the owner: no role of requests may change either.
create function public.forget_review() returns trigger
  language plpgsql security definer set search_path = ''
as $$
begin
  delete from public.analyses where user_id = old.user_id and id = old.id;
  update public.entry_versions
     set feedback = jsonb_set(feedback, '{analyses}', (
           select coalesce(jsonb_agg(analysis), '[]')
             from jsonb_array_elements(feedback -> 'analyses') as analysis
            where analysis ->> 'id' <> old.id::text))
   where user_id = old.user_id and date between old.period_from and old.period_to
     and feedback -> 'analyses' @> jsonb_build_array(jsonb_build_object('id', old.id));
  return null;
end
$$;
revoke execute on function public.forget_review() from public;

create trigger forget_review after delete on public.reviews
  for each row execute function public.forget_review();

alter table public.reviews enable row level security, force row level security;
-- Without a paid plan the newest review stays readable.
create policy user_select_reviews on public.reviews
  for select to authenticated
  using (user_id = (select auth.uid())
    and ((select public.is_premium()) or id = (select public.newest_review())));
create policy user_delete_reviews on public.reviews
  for delete to authenticated using (user_id = (select auth.uid()));
-- For `newest_review`.
create policy owner_select_reviews on public.reviews
  for select to current_user using (user_id = (select auth.uid()));

revoke all on public.reviews from anon, authenticated, service_role;
grant select, delete on public.reviews to authenticated;
grant select, insert, update (logs_fingerprint), delete on public.reviews to service_role;

-- The reviews as their owner reads them. `is_changed`: a log of the period was written, changed, moved or deleted since.
-- `entry_count`: 0 if it is not known.
create view public.kept_reviews with (security_invoker = true) as
  select user_id, id, period, period_from, period_to, coalesce(entry_count, 0) as entry_count, text, created_at,
         public.have_logs_changed(period_from, period_to, logs_fingerprint, created_at) as is_changed
    from public.reviews;
-- Threat: the view could be written through to `reviews`.
revoke all on public.kept_reviews from anon, authenticated, service_role;
grant select on public.kept_reviews to authenticated;
