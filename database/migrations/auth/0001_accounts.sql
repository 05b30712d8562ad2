-- Accounts, sessions and one-time tokens: applied only where Hustle Forge is its own auth service.
-- A hosted Supabase project brings a schema `auth` of its own, and this folder is left alone there.

-- Roles belong to the whole server, not to a database: another one beside this may have made them already.
do $$
begin
  if not exists (select from pg_catalog.pg_roles where rolname = 'anon') then
    create role anon nologin noinherit;
  end if;
  if not exists (select from pg_catalog.pg_roles where rolname = 'authenticated') then
    create role authenticated nologin noinherit;
  end if;
  if not exists (select from pg_catalog.pg_roles where rolname = 'service_role') then
    create role service_role nologin noinherit bypassrls;
  end if;
end
$$;

create schema auth;

-- Who is asking, for policies. After a transaction the setting is '', not null. No `set search_path` on these three:
-- it would keep the planner from inlining them.
create function auth.jwt() returns jsonb
  language sql stable
  return nullif(current_setting('request.jwt.claims', true), '')::jsonb;

create function auth.uid() returns uuid
  language sql stable
  return (nullif(current_setting('request.jwt.claims', true), '')::json ->> 'sub')::uuid;

create function auth.role() returns text
  language sql stable
  return nullif(current_setting('request.jwt.claims', true), '')::json ->> 'role';

create table auth.users (
  id uuid primary key default gen_random_uuid(),
  aud text not null default 'authenticated',
  role text not null default 'authenticated',
  -- ASCII in lower case (the server checks the form), so plain equality compares addresses.
  email text unique check (email = lower(email)),
  -- argon2id in the PHC string format; null for an account that has never had a password.
  password_hash text,
  email_confirmed_at timestamptz,
  invited_at timestamptz,
  phone text unique,
  phone_confirmed_at timestamptz,
  confirmation_sent_at timestamptz,
  recovery_sent_at timestamptz,
  reauthentication_sent_at timestamptz,
  -- An address that waits for its confirmations. Not unique: whoever confirms first gets it.
  new_email text check (new_email = lower(new_email)),
  email_change_sent_at timestamptz,
  -- When the owner of this address was last told that somebody tried to sign up with it.
  existing_account_notice_sent_at timestamptz,
  last_sign_in_at timestamptz,
  raw_app_meta_data jsonb not null default '{}',
  raw_user_meta_data jsonb not null default '{}',
  is_anonymous boolean not null default false,
  banned_until timestamptz,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);

create table auth.identities (
  id uuid primary key default gen_random_uuid(),
  user_id uuid not null references auth.users on delete cascade,
  provider text not null,
  -- The account's id at the provider; for `email`, the user's own id.
  provider_id text not null,
  identity_data jsonb not null,
  last_sign_in_at timestamptz,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  unique (provider, provider_id)
);
create index on auth.identities (user_id);

create table auth.sessions (
  id uuid primary key default gen_random_uuid(),
  user_id uuid not null references auth.users on delete cascade,
  aal text not null default 'aal1' check (aal in ('aal1', 'aal2', 'aal3')),
  -- How the user proved who they are, newest first: [{ "method", "timestamp" }].
  amr jsonb not null default '[]',
  ip text,
  user_agent text,
  created_at timestamptz not null default now(),
  refreshed_at timestamptz
);
create index on auth.sessions (user_id);

-- The chain of one session's refresh tokens. The highest generation is the active one, the one before is its parent,
-- and a token stopped being active at the moment its successor was made.
create table auth.refresh_tokens (
  session_id uuid not null references auth.sessions on delete cascade,
  generation integer not null check (generation > 0),
  -- SHA-256 of the token.
  token_hash bytea not null unique check (octet_length(token_hash) = 32),
  -- Mixed into the token when it was derived from its parent (src/server/auth/accounts/refresh-tokens.ts).
  salt bytea not null,
  created_at timestamptz not null default now(),
  primary key (session_id, generation)
);

-- What a mail carries: at most one live token per user and purpose, so a new mail ends the one before.
create table auth.one_time_tokens (
  user_id uuid not null references auth.users on delete cascade,
  purpose text not null check (purpose in ('signup', 'recovery', 'email_change_current', 'email_change_new', 'reauthentication')),
  -- The address that the mail went to.
  address text not null,
  -- SHA-256 of the link's token; null where the mail has a code only.
  link_hash bytea unique check (octet_length(link_hash) = 32),
  -- HMAC-SHA-256 of the six digits, keyed outside the database: a bare hash of a million codes hides nothing.
  code_hash bytea not null check (octet_length(code_hash) = 32),
  wrong_codes integer not null default 0,
  -- Those of the tokens that this one replaced: a new mail does not buy new guesses.
  earlier_wrong_codes integer not null default 0,
  -- Set once this half of an e-mail change is confirmed while the other is still open.
  confirmed_at timestamptz,
  created_at timestamptz not null default now(),
  expires_at timestamptz not null,
  primary key (user_id, purpose)
);
create index on auth.one_time_tokens (address);

-- Counters of rate-limiter-flexible, which names the columns. Unlogged: losing them in a crash is fine, waiting for
-- the disk at every request is not.
create unlogged table auth.rate_limits (
  key varchar(255) primary key,
  points integer not null default 0,
  expire bigint
);
create index on auth.rate_limits (expire);

-- Nobody but the server's own service role reads or writes here. Row-level security without a policy says so again,
-- should a later grant be careless.
alter table auth.users enable row level security;
alter table auth.identities enable row level security;
alter table auth.sessions enable row level security;
alter table auth.refresh_tokens enable row level security;
alter table auth.one_time_tokens enable row level security;
alter table auth.rate_limits enable row level security;

grant usage on schema auth to anon, authenticated, service_role;
grant select, insert, update, delete on all tables in schema auth to service_role;
revoke execute on all functions in schema auth from public;
grant execute on function auth.jwt(), auth.uid(), auth.role() to anon, authenticated, service_role;
