-- phase: expand
-- Capture from elsewhere (docs/specification/capture.md): personal access tokens, the requests and links that connect a
-- program to an account, and the keys of appended items.

-- The scopes of the personal access token that this request came with, such as `append read`; null for a session. The server
-- sets the claim when it has looked the token up; a token of a session never has it (src/server/http/authenticate.ts).
create function public.token_scopes() returns text
  language sql stable
  return nullif(current_setting('request.jwt.claims', true), '')::json ->> 'scopes';

-- Threat: a defect in a function lets a token do more than its scopes say. A token writes logs only with the scope `append`,
-- and neither deletes one nor moves one to another user.
create function public.can_append() returns boolean
  language sql stable
  return coalesce('append' = any (string_to_array(public.token_scopes(), ' ')), true);

create policy reject_insert_without_append on public.entries as restrictive for insert to authenticated
  with check ((select public.can_append()));
create policy reject_update_without_append on public.entries as restrictive for update to authenticated
  using ((select public.can_append())) with check ((select public.can_append()));
create policy reject_delete_by_token on public.entries as restrictive for delete to authenticated
  using ((select public.token_scopes()) is null);
create policy reject_insert_by_token on public.profiles as restrictive for insert to authenticated
  with check ((select public.token_scopes()) is null);
create policy reject_update_by_token on public.profiles as restrictive for update to authenticated
  using ((select public.token_scopes()) is null) with check ((select public.token_scopes()) is null);

create policy reject_insert_by_token on public.preferences as restrictive for insert to authenticated
  with check ((select public.token_scopes()) is null);
create policy reject_update_by_token on public.preferences as restrictive for update to authenticated
  using ((select public.token_scopes()) is null) with check ((select public.token_scopes()) is null);

create policy reject_insert_by_token on public.documents as restrictive for insert to authenticated
  with check ((select public.token_scopes()) is null);
create policy reject_update_by_token on public.documents as restrictive for update to authenticated
  using ((select public.token_scopes()) is null) with check ((select public.token_scopes()) is null);
create policy reject_delete_by_token on public.documents as restrictive for delete to authenticated
  using ((select public.token_scopes()) is null);
create policy reject_insert_by_token on public.document_links as restrictive for insert to authenticated
  with check ((select public.token_scopes()) is null);
create policy reject_delete_by_token on public.document_links as restrictive for delete to authenticated
  using ((select public.token_scopes()) is null);
create policy reject_delete_by_token on public.reviews as restrictive for delete to authenticated
  using ((select public.token_scopes()) is null);

-- The idempotency keys of appended items: a repeated request finds its key and appends nothing. Without the text.
create table public.appended_items (
  user_id uuid not null references auth.users on delete cascade,
  key text not null constraint appended_items_key_length check (char_length(key) between 1 and 200),
  -- SHA-256 of the items in base64url, so that another text under a used key is refused and not lost.
  items_hash text not null constraint appended_items_hash_length check (char_length(items_hash) = 43),
  date date not null,
  revision integer not null,
  created_at timestamptz not null default now(),
  primary key (user_id, key)
  -- A key lives for 30 days: as many rows are deleted as are inserted.
) with (autovacuum_vacuum_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.02);
-- For the job that deletes what is older than 30 days.
create index appended_items_by_age on public.appended_items (created_at);

alter table public.appended_items enable row level security, force row level security;
create policy user_select_appended_items on public.appended_items
  for select to authenticated using (user_id = (select auth.uid()));
create policy user_insert_appended_items on public.appended_items
  for insert to authenticated with check (user_id = (select auth.uid()) and (select public.can_append()));
revoke all on public.appended_items from anon, authenticated, service_role;
grant select on public.appended_items to authenticated;
grant insert (user_id, key, items_hash, date, revision) on public.appended_items to authenticated;
grant select, delete on public.appended_items to service_role;

-- Personal access tokens. The token itself is shown once and never stored.
create table public.access_tokens (
  user_id uuid not null references auth.users on delete cascade,
  id uuid not null default gen_random_uuid(),
  name text not null constraint access_tokens_name_length check (char_length(name) between 1 and 60),
  scopes text[] not null constraint access_tokens_known_scopes
    check (cardinality(scopes) between 1 and 2 and scopes <@ array['append', 'read']),
  -- SHA-256 of the token, whose 256 random bits no guess finds, so that it needs no slow hash.
  token_hash bytea not null constraint access_tokens_hash_length check (octet_length(token_hash) = 32),
  -- The zone of the browser that made the token: the day of an item without a date, until the account knows its zone.
  time_zone text constraint access_tokens_zone_length check (char_length(time_zone) <= 64),
  created_at timestamptz not null default now(),
  expires_at timestamptz not null,
  -- To the hour, so that a request seldom writes.
  last_used_at timestamptz,
  primary key (user_id, id),
  constraint access_tokens_token_hash_key unique (user_id, token_hash)
);
alter table public.access_tokens enable row level security, force row level security;
revoke all on public.access_tokens from anon, authenticated, service_role;
grant select, insert, update (last_used_at), delete on public.access_tokens to service_role;

-- A program or a Slack user that asks to be connected to an account: a device authorization (RFC 8628) or the command
-- `/hustle link`. Whoever holds the code decides nothing: a signed-in user approves on the page /connect.
create table public.connect_requests (
  -- SHA-256 of the device code, or of the code in the link that Slack shows.
  code_hash bytea primary key constraint connect_requests_hash_length check (octet_length(code_hash) = 32),
  -- Eight letters that the user compares or types; null for Slack.
  user_code text constraint connect_requests_user_code_key unique,
  client_name text not null constraint connect_requests_name_length check (char_length(client_name) between 1 and 60),
  scopes text[] not null,
  slack_team text,
  slack_user text,
  created_at timestamptz not null default now(),
  expires_at timestamptz not null,
  -- Seconds that the client has to wait between two polls; `slow_down` adds five.
  poll_seconds smallint not null default 5,
  polled_at timestamptz,
  -- Set once the user has answered.
  approved_by uuid references auth.users on delete cascade,
  token_days smallint,
  time_zone text,
  denied_at timestamptz,
  constraint connect_requests_whole check ((user_code is null) = (slack_team is not null and slack_user is not null))
);
create index connect_requests_expired on public.connect_requests (expires_at);
create index connect_requests_of_user on public.connect_requests (approved_by) where approved_by is not null;
alter table public.connect_requests enable row level security, force row level security;
revoke all on public.connect_requests from anon, authenticated, service_role;
grant select, insert, update, delete on public.connect_requests to service_role;

-- The accounts that Slack users write to.
create table public.slack_links (
  team_id text not null constraint slack_links_team_length check (char_length(team_id) between 1 and 40),
  slack_user text not null constraint slack_links_user_length check (char_length(slack_user) between 1 and 40),
  user_id uuid not null references auth.users on delete cascade,
  name text not null constraint slack_links_name_length check (char_length(name) between 1 and 60),
  time_zone text constraint slack_links_zone_length check (char_length(time_zone) <= 64),
  created_at timestamptz not null default now(),
  primary key (team_id, slack_user)
);
create index slack_links_of_user on public.slack_links (user_id);
alter table public.slack_links enable row level security, force row level security;
revoke all on public.slack_links from anon, authenticated, service_role;
grant select, insert, update, delete on public.slack_links to service_role;
