-- phase: expand
-- replaces: 9 migrations, sha256 876db94d50d3c129737cff12655c31428776f5c0b228aa589fa980ab8b464c0c
-- Accounts, sign-ins and sessions, where Hustle Forge is its own auth service. A hosted Supabase project has a schema `auth`
-- of its own, and nothing of this file is applied there.
--
-- Only `service_role`, which bypasses row-level security, reads or writes these tables. Each table enables row-level
-- security without a policy, so that a grant to another role by mistake reveals nothing.

-- Roles belong to the whole server: another database of the same server may have created them.
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
grant usage on schema auth to anon, authenticated, service_role;

-- The claims of the caller, for policies. After a transaction the setting is '' instead of null. No `set search_path`:
-- PostgreSQL would not inline the functions.
create function auth.jwt() returns jsonb
  language sql stable
  return nullif(current_setting('request.jwt.claims', true), '')::jsonb;

create function auth.uid() returns uuid
  language sql stable
  return (nullif(current_setting('request.jwt.claims', true), '')::json ->> 'sub')::uuid;

create function auth.role() returns text
  language sql stable
  return nullif(current_setting('request.jwt.claims', true), '')::json ->> 'role';

revoke execute on function auth.jwt(), auth.uid(), auth.role() from public;
grant execute on function auth.jwt(), auth.uid(), auth.role() to anon, authenticated, service_role;

-- Accounts.
create table auth.users (
  id uuid primary key default gen_random_uuid(),
  aud text not null default 'authenticated',
  role text not null default 'authenticated',
  -- ASCII in lower case (the server checks the form), so plain equality compares addresses.
  email text check (email = lower(email)),
  -- argon2id in the PHC string format; null for an account without a password.
  password_hash text,
  email_confirmed_at timestamptz,
  invited_at timestamptz,
  phone text unique,
  phone_confirmed_at timestamptz,
  confirmation_sent_at timestamptz,
  recovery_sent_at timestamptz,
  reauthentication_sent_at timestamptz,
  -- The address of a pending change. Not unique: the first account that confirms the address gets it.
  new_email text check (new_email = lower(new_email)),
  email_change_sent_at timestamptz,
  -- The last notice to the owner of the address that somebody tried to sign up with it.
  existing_account_notice_sent_at timestamptz,
  last_sign_in_at timestamptz,
  raw_app_meta_data jsonb not null default '{}',
  raw_user_meta_data jsonb not null default '{}',
  is_anonymous boolean not null default false,
  banned_until timestamptz,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  new_phone text,
  phone_change_sent_at timestamptz,
  magiclink_sent_at timestamptz,
  -- The last notice of a sign-in from an unknown device.
  new_device_notice_sent_at timestamptz,
  -- The last notice that somebody guesses the codes of a second factor.
  factor_guess_notice_sent_at timestamptz,
  -- Created by a SAML identity provider, which alone vouches for the address. Such an account shares its address with no
  -- other sign-in method.
  is_sso_user boolean not null default false,
  -- Set while the owner can undo the deletion of the account. A job deletes the row afterwards.
  deletion_due_at timestamptz,
  -- Set by an operator's soft deletion: nobody can sign in to the account, and its rows stay.
  deleted_at timestamptz,
  -- When a link, a code or a provider first proved that the account's owner reads the address
  -- (docs/specification/accounts.md 17). Null while AUTH_AUTOCONFIRM alone has confirmed it: the next proof claims the
  -- account.
  email_proven_at timestamptz
);
create unique index users_email_key on auth.users (email) where not is_sso_user;
create index users_deletion_due on auth.users (deletion_due_at) where deletion_due_at is not null;
-- For the job that deletes unconfirmed accounts after 30 days.
create index users_unconfirmed on auth.users (created_at)
  where email_confirmed_at is null and phone_confirmed_at is null;
alter table auth.users enable row level security;
grant select, insert, update, delete on auth.users to service_role;

-- The sign-in methods of an account besides passkeys: its mail address, and its accounts at providers.
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
alter table auth.identities enable row level security;
grant select, insert, update, delete on auth.identities to service_role;

-- The public key of an authenticator. A passkey signs in alone; the key of a factor only confirms a sign-in.
create table auth.webauthn_credentials (
  id uuid primary key default gen_random_uuid(),
  user_id uuid not null references auth.users on delete cascade,
  purpose text not null check (purpose in ('passkey', 'factor')),
  credential_id bytea not null unique,
  public_key bytea not null,
  sign_count bigint not null default 0,
  transports text[] not null default '{}',
  aaguid uuid not null,
  backed_up boolean not null default false,
  friendly_name text not null default '',
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  last_used_at timestamptz
);
create index on auth.webauthn_credentials (user_id);
alter table auth.webauthn_credentials enable row level security;
grant select, insert, update, delete on auth.webauthn_credentials to service_role;

-- Challenges of passkeys: each is answered once.
create table auth.passkey_challenges (
  id uuid primary key default gen_random_uuid(),
  -- Null for a sign-in: the passkey names the user.
  user_id uuid references auth.users on delete cascade,
  challenge text not null,
  expires_at timestamptz not null
);
create index on auth.passkey_challenges (user_id);
create index on auth.passkey_challenges (expires_at);
alter table auth.passkey_challenges enable row level security;
grant select, insert, update, delete on auth.passkey_challenges to service_role;

-- Second factors.
create table auth.mfa_factors (
  id uuid primary key default gen_random_uuid(),
  user_id uuid not null references auth.users on delete cascade,
  factor_type text not null check (factor_type in ('totp', 'phone', 'webauthn')),
  status text not null default 'unverified' check (status in ('unverified', 'verified')),
  friendly_name text not null default '',
  -- Sealed TOTP secret.
  secret bytea,
  -- The time step of the last accepted TOTP code, so that a code is accepted once.
  last_time_step bigint,
  phone text,
  credential_id uuid references auth.webauthn_credentials on delete cascade,
  last_challenged_at timestamptz,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  unique (user_id, friendly_name)
);
create index on auth.mfa_factors (credential_id) where credential_id is not null;
alter table auth.mfa_factors enable row level security;
grant select, insert, update, delete on auth.mfa_factors to service_role;

create table auth.mfa_challenges (
  id uuid primary key default gen_random_uuid(),
  factor_id uuid not null references auth.mfa_factors on delete cascade,
  -- The address, or the /64 network of an IPv6 address, that may answer the challenge.
  ip text not null,
  -- HMAC-SHA-256 of a texted code.
  code_hash bytea check (octet_length(code_hash) = 32),
  webauthn_challenge text,
  wrong_codes integer not null default 0,
  verified_at timestamptz,
  created_at timestamptz not null default now(),
  expires_at timestamptz not null
);
create index on auth.mfa_challenges (factor_id);
create index on auth.mfa_challenges (expires_at);
alter table auth.mfa_challenges enable row level security;
grant select, insert, update, delete on auth.mfa_challenges to service_role;

-- A user's set of recovery codes. Each code replaces a lost second factor once.
create table auth.recovery_code_sets (
  user_id uuid primary key references auth.users on delete cascade,
  id uuid not null unique default gen_random_uuid(),
  friendly_name text not null,
  -- When the first codes were issued; new codes keep the row.
  created_at timestamptz not null default now()
);
alter table auth.recovery_code_sets enable row level security;
grant select, insert, update, delete on auth.recovery_code_sets to service_role;

create table auth.recovery_codes (
  user_id uuid not null references auth.recovery_code_sets on delete cascade,
  -- HMAC-SHA-256 of the code.
  code_hash bytea not null check (octet_length(code_hash) = 32),
  used_at timestamptz,
  primary key (user_id, code_hash)
);
alter table auth.recovery_codes enable row level security;
grant select, insert, update, delete on auth.recovery_codes to service_role;

create table auth.sessions (
  id uuid primary key default gen_random_uuid(),
  user_id uuid not null references auth.users on delete cascade,
  aal text not null default 'aal1' check (aal in ('aal1', 'aal2', 'aal3')),
  -- The authentication methods of the session, newest first: [{ "method", "timestamp" }].
  amr jsonb not null default '[]',
  ip text,
  user_agent text,
  created_at timestamptz not null default now(),
  refreshed_at timestamptz,
  factor_id uuid references auth.mfa_factors on delete set null,
  -- The passkey that started the session.
  passkey_id uuid references auth.webauthn_credentials on delete set null
) with (
  -- Every renewal updates its session: room in each page keeps the updates HOT, and vacuum comes long before a fifth of a
  -- large table is dead (docs/operations/data-growth.md).
  fillfactor = 80, autovacuum_vacuum_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.02
);
create index on auth.sessions (user_id);
create index on auth.sessions (factor_id) where factor_id is not null;
create index on auth.sessions (passkey_id) where passkey_id is not null;
alter table auth.sessions enable row level security;
grant select, insert, update, delete on auth.sessions to service_role;

-- The chain of one session's refresh tokens. The highest generation is the active token and the one before is its parent.
-- A token stops being active when its successor is issued.
create table auth.refresh_tokens (
  session_id uuid not null references auth.sessions on delete cascade,
  generation integer not null check (generation > 0),
  -- SHA-256 of the token.
  token_hash bytea not null unique check (octet_length(token_hash) = 32),
  -- Mixed into the token when it was derived from its parent.
  salt bytea not null,
  created_at timestamptz not null default now(),
  -- When this token was issued again, after the reuse window, to a client that presented its parent. A lost response causes
  -- that once. An owner and a thief who share a session cause it at every turn, and the second time ends the session.
  reissued_at timestamptz,
  primary key (session_id, generation)
) with (autovacuum_vacuum_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.02);
alter table auth.refresh_tokens enable row level security;
grant select, insert, update, delete on auth.refresh_tokens to service_role;

-- A sign-in that leaves for another page and returns: that of a provider, or the mail client.
create table auth.flows (
  -- Also the `state` parameter of a provider.
  id uuid primary key default gen_random_uuid(),
  -- Values of the `amr` claim of the session to start.
  method text not null,
  provider text,
  -- The PKCE challenge of the client; null for the implicit flow, which returns tokens in the fragment.
  code_challenge text,
  code_challenge_method text check (code_challenge_method in ('s256', 'plain')),
  redirect_to text not null,
  -- Set for a flow that links a provider to this signed-in user.
  linking_user_id uuid references auth.users on delete cascade,
  -- SHA-256 of the cookie of the browser that started the flow. Another browser cannot finish it.
  browser_hash bytea check (octet_length(browser_hash) = 32),
  -- Sealed: the verifier and nonce that we sent to the provider, and the tokens that it returned.
  provider_secrets bytea,
  -- Set once the user is known: the code that the client exchanges, as SHA-256.
  user_id uuid references auth.users on delete cascade,
  auth_code_hash bytea unique check (octet_length(auth_code_hash) = 32),
  auth_code_issued_at timestamptz,
  -- Set when the provider's answer has arrived: it is accepted once.
  returned_at timestamptz,
  created_at timestamptz not null default now(),
  expires_at timestamptz not null,
  check ((code_challenge is null) = (code_challenge_method is null))
);
create index on auth.flows (user_id);
create index on auth.flows (linking_user_id);
create index on auth.flows (expires_at);
alter table auth.flows enable row level security;
grant select, insert, update, delete on auth.flows to service_role;

-- The link and the code of a mail or a text message: at most one live token per user and purpose, so a new mail replaces
-- the token of the one before.
create table auth.one_time_tokens (
  user_id uuid not null references auth.users on delete cascade,
  purpose text not null check (purpose in ('signup', 'invite', 'magiclink', 'recovery', 'email_change_current',
    'email_change_new', 'reauthentication', 'sms', 'phone_change', 'undo_deletion')),
  -- The recipient: a mail address or a phone number.
  address text not null,
  -- SHA-256 of the link's token; null if the message has only a code.
  link_hash bytea unique check (octet_length(link_hash) = 32),
  -- HMAC-SHA-256 of the six digits, keyed outside of the row: a bare hash of a million codes hides nothing.
  code_hash bytea not null check (octet_length(code_hash) = 32),
  wrong_codes integer not null default 0,
  -- Wrong codes of the tokens that this one replaced. Threat: whoever asks for a new mail would get new guesses.
  earlier_wrong_codes integer not null default 0,
  -- Set once this half of a change of address is confirmed while the other is still open.
  confirmed_at timestamptz,
  created_at timestamptz not null default now(),
  expires_at timestamptz not null,
  -- The PKCE flow that asked for the mail.
  flow_id uuid references auth.flows on delete cascade,
  primary key (user_id, purpose)
);
create index on auth.one_time_tokens (address);
create index on auth.one_time_tokens (flow_id) where flow_id is not null;
-- For the job that deletes expired links and codes.
create index one_time_tokens_expired on auth.one_time_tokens (expires_at);
alter table auth.one_time_tokens enable row level security;
grant select, insert, update, delete on auth.one_time_tokens to service_role;

-- Links of mails that a newer mail of the same purpose has replaced. They stay valid until they expire. Threat: a stranger
-- who asks for another mail would invalidate the link that the owner is about to open. They end together with the token
-- that replaced them: by its use, the use of one of these, or a new password.
create table auth.earlier_links (
  -- SHA-256 of the link's token.
  link_hash bytea primary key check (octet_length(link_hash) = 32),
  user_id uuid not null,
  purpose text not null check (purpose in ('signup', 'magiclink', 'recovery', 'email_change_current',
    'email_change_new')),
  address text not null,
  expires_at timestamptz not null,
  -- The PKCE flow of this link: the newest mail may belong to another flow.
  flow_id uuid references auth.flows on delete cascade,
  foreign key (user_id, purpose) references auth.one_time_tokens on delete cascade
);
create index on auth.earlier_links (user_id, purpose);
create index on auth.earlier_links (flow_id) where flow_id is not null;
alter table auth.earlier_links enable row level security;
grant select, insert, update, delete on auth.earlier_links to service_role;

-- SAML identity providers and the mail domains that lead to them.
create table auth.sso_providers (
  id uuid primary key default gen_random_uuid(),
  entity_id text not null unique,
  metadata_xml text not null,
  attribute_mapping jsonb not null default '{}',
  disabled boolean not null default false,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);
alter table auth.sso_providers enable row level security;
grant select, insert, update, delete on auth.sso_providers to service_role;

create table auth.sso_domains (
  domain text primary key check (domain = lower(domain)),
  provider_id uuid not null references auth.sso_providers on delete cascade
);
create index on auth.sso_domains (provider_id);
alter table auth.sso_domains enable row level security;
grant select, insert, update, delete on auth.sso_domains to service_role;

-- Requests to a SAML provider that wait for their answer; each answer is accepted once.
create table auth.saml_requests (
  id text primary key,
  flow_id uuid not null references auth.flows on delete cascade,
  provider_id uuid not null references auth.sso_providers on delete cascade,
  created_at timestamptz not null default now(),
  expires_at timestamptz not null
);
create index on auth.saml_requests (flow_id);
create index on auth.saml_requests (provider_id);
alter table auth.saml_requests enable row level security;
grant select, insert, update, delete on auth.saml_requests to service_role;

-- Nonces for messages that a wallet signs; each is accepted once.
create table auth.web3_nonces (
  nonce text primary key,
  expires_at timestamptz not null
);
alter table auth.web3_nonces enable row level security;
grant select, insert, update, delete on auth.web3_nonces to service_role;

-- ID tokens that a client presented; each is accepted once.
create table auth.used_id_tokens (
  -- SHA-256 of the part that the provider signed.
  token_hash bytea primary key check (octet_length(token_hash) = 32),
  expires_at timestamptz not null
);
create index on auth.used_id_tokens (expires_at);
alter table auth.used_id_tokens enable row level security;
grant select, insert, update, delete on auth.used_id_tokens to service_role;

-- The keys that sign access tokens, and the bytes from which all other secrets are derived, for servers without
-- AUTH_SIGNING_KEY_FILE (docs/decisions/0034). Threat: a reader of this row can sign in as any user.
create table auth.signing_keys (
  -- At most one row: two servers that start at the same moment agree on one set of keys.
  is_only_row boolean primary key default true check (is_only_row),
  -- As in a key file (docs/operations.md, "The signing key").
  key_set text not null,
  rotated_at timestamptz not null default now()
);
-- Forced, so that the owner of the tables does not see the row either.
alter table auth.signing_keys enable row level security, force row level security;
grant select, insert, update, delete on auth.signing_keys to service_role;

-- Counters of rate-limiter-flexible, which names the columns. Unlogged: a crash may lose them, and no request waits for the
-- disk.
create unlogged table auth.rate_limits (
  key varchar(255) primary key,
  points integer not null default 0,
  expire bigint
  -- Every limited request updates a counter.
) with (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.02);
create index on auth.rate_limits (expire);
alter table auth.rate_limits enable row level security;
grant select, insert, update, delete on auth.rate_limits to service_role;

-- Security events, for the owner of an account and the operator. Append-only for every role.
create table auth.audit_log (
  id bigint generated always as identity primary key,
  at timestamptz not null default now(),
  -- No foreign key: the log outlives the account. `erase_audit_log` then removes what names a person.
  user_id uuid,
  actor text not null check (actor in ('user', 'guest', 'service', 'operator', 'job')),
  event text not null,
  ip text,
  user_agent text,
  details jsonb not null default '{}'
);
create index on auth.audit_log (user_id, at desc);
alter table auth.audit_log enable row level security;
grant select, insert on auth.audit_log to service_role;

create function auth.refuse_change_of_audit_log() returns trigger
  language plpgsql set search_path = ''
as $$
begin
  if current_setting('auth.erasing_audit_log', true) = 'on' then
    return coalesce(new, old);
  end if;
  raise exception 'audit rows are only added' using errcode = 'restrict_violation';
end
$$;
revoke execute on function auth.refuse_change_of_audit_log() from public;

create trigger only_added_to before update or delete on auth.audit_log
  for each row execute function auth.refuse_change_of_audit_log();
create trigger never_truncated before truncate on auth.audit_log
  for each statement execute function auth.refuse_change_of_audit_log();

-- Keeps the events of a deleted account without the person. The events of an existing account never change.
create function auth.erase_audit_log(erased_user uuid) returns void
  language plpgsql security definer set search_path = ''
as $$
begin
  if exists (select from auth.users where id = erased_user) then
    raise exception 'the account exists' using errcode = 'restrict_violation';
  end if;
  perform set_config('auth.erasing_audit_log', 'on', true);
  update auth.audit_log set user_id = null, ip = null, user_agent = null, details = '{}' where user_id = erased_user;
  perform set_config('auth.erasing_audit_log', 'off', true);
end
$$;
revoke execute on function auth.erase_audit_log(uuid) from public;
grant execute on function auth.erase_audit_log(uuid) to service_role;

-- Deletes at most `max_rows` audit rows that are older than 400 days, oldest first, and returns their number. The ids rise
-- with the time, so no further index is needed. Threat: a thief with the rights of the service wipes the traces. So the
-- function fixes the age, and no caller can choose it.
create function auth.purge_audit_log(max_rows integer) returns integer
  language plpgsql security definer set search_path = ''
as $$
declare
  deleted integer;
begin
  perform set_config('auth.erasing_audit_log', 'on', true);
  delete from auth.audit_log
   where at < now() - interval '400 days' and id in (select id from auth.audit_log order by id limit max_rows);
  get diagnostics deleted = row_count;
  perform set_config('auth.erasing_audit_log', 'off', true);
  return deleted;
end
$$;
revoke execute on function auth.purge_audit_log(integer) from public;
grant execute on function auth.purge_audit_log(integer) to service_role;
