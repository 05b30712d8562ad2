-- phase: expand
-- The browsers that show a user's reminders (docs/specification/habit.md 6). A subscription ends with the session of its
-- browser. The server alone writes it, because it decides which push services it sends to.
create table public.push_subscriptions (
  user_id uuid not null references auth.users on delete cascade,
  id uuid not null default gen_random_uuid(),
  session_id uuid not null references auth.sessions on delete cascade,
  -- An address of a push service. Whoever knows it can send nothing without the server's key.
  endpoint text not null constraint push_subscriptions_endpoint_length check (char_length(endpoint) between 1 and 2000),
  -- The public key and the secret of the browser (RFC 8291): only the browser can read what is encrypted with them.
  p256dh bytea not null constraint push_subscriptions_key_length check (octet_length(p256dh) = 65),
  auth bytea not null constraint push_subscriptions_secret_length check (octet_length(auth) = 16),
  -- Such as "Chrome on Windows".
  device text not null constraint push_subscriptions_device_length check (char_length(device) between 1 and 100),
  -- The hash of the token with which the browser's service worker, which has no session, replaces the subscription.
  renewal_hash bytea not null constraint push_subscriptions_renewal_hash check (octet_length(renewal_hash) = 32),
  created_at timestamptz not null default now(),
  -- When a push service last took a message.
  last_sent_at timestamptz,
  primary key (user_id, id),
  constraint push_subscriptions_endpoint_key unique (endpoint)
);
create index push_subscriptions_by_session on public.push_subscriptions (session_id);

-- Threat: an account that makes the server send to endpoints without end. The lock is needed, because two requests would
-- not see each other's row.
create function public.limit_push_subscriptions() returns trigger
  language plpgsql set search_path = ''
as $$
begin
  perform pg_catalog.pg_advisory_xact_lock(pg_catalog.hashtextextended('push_subscriptions ' || new.user_id, 0));
  if (select count(*) from public.push_subscriptions where user_id = new.user_id and endpoint <> new.endpoint) >= 10 then
    raise exception 'A user can have 10 devices at most. Remove one first' using errcode = 'program_limit_exceeded';
  end if;
  return new;
end
$$;
create trigger limit_push_subscriptions before insert on public.push_subscriptions
  for each row execute function public.limit_push_subscriptions();

alter table public.push_subscriptions enable row level security, force row level security;
create policy user_select_push_subscriptions on public.push_subscriptions for select to authenticated
  using (user_id = (select auth.uid()));
create policy user_delete_push_subscriptions on public.push_subscriptions for delete to authenticated
  using (user_id = (select auth.uid()));
create policy reject_delete_by_token on public.push_subscriptions as restrictive for delete to authenticated
  using ((select public.token_scopes()) is null);
revoke all on public.push_subscriptions from anon, authenticated, service_role;
-- Without the endpoint and the keys: only the server needs them.
grant select (user_id, id, device, created_at, last_sent_at), delete on public.push_subscriptions to authenticated;
grant select, insert, update, delete on public.push_subscriptions to service_role;
