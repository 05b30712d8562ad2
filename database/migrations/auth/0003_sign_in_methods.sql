-- Every way to sign in besides a password: mailed and texted codes, PKCE, OAuth, SAML, wallets, second factors, passkeys.
-- Also the audit log, and the date on which an account that its owner deleted disappears.

alter table auth.users
  add column new_phone text,
  add column phone_change_sent_at timestamptz,
  add column magiclink_sent_at timestamptz,
  -- When the owner was last told of a sign-in from an unknown device.
  add column new_device_notice_sent_at timestamptz,
  -- When the owner was last told that somebody guesses the codes of a second factor.
  add column factor_guess_notice_sent_at timestamptz,
  -- Made by a SAML identity provider, which alone vouches for the address. Such an account never shares one with others.
  add column is_sso_user boolean not null default false,
  -- Set while the owner can still undo the deletion of the account; a job deletes the row afterwards.
  add column deletion_due_at timestamptz,
  -- Set by an operator's soft deletion: nobody can sign in to the account any more, and its rows stay.
  add column deleted_at timestamptz;
alter table auth.users drop constraint users_email_key;
create unique index users_email_key on auth.users (email) where not is_sso_user;
create index users_deletion_due on auth.users (deletion_due_at) where deletion_due_at is not null;

-- A sign-in that leaves for another page and comes back: a provider's, or the mail client's.
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

alter table auth.one_time_tokens drop constraint one_time_tokens_purpose_check;
alter table auth.one_time_tokens
  add constraint one_time_tokens_purpose_check check (purpose in ('signup', 'invite', 'magiclink', 'recovery',
    'email_change_current', 'email_change_new', 'reauthentication', 'sms', 'phone_change', 'undo_deletion')),
  -- The PKCE flow that asked for the mail.
  add column flow_id uuid references auth.flows on delete cascade;
create index on auth.one_time_tokens (flow_id) where flow_id is not null;
alter table auth.earlier_links drop constraint earlier_links_purpose_check;
alter table auth.earlier_links
  add constraint earlier_links_purpose_check check (purpose in ('signup', 'magiclink', 'recovery',
    'email_change_current', 'email_change_new')),
  -- The PKCE flow of this very link: the newest mail may belong to another one.
  add column flow_id uuid references auth.flows on delete cascade;
create index on auth.earlier_links (flow_id) where flow_id is not null;

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

-- A user's set of recovery codes. Each code replaces a lost second factor once.
create table auth.recovery_code_sets (
  user_id uuid primary key references auth.users on delete cascade,
  id uuid not null unique default gen_random_uuid(),
  friendly_name text not null,
  -- When the codes were issued; new codes keep the row.
  created_at timestamptz not null default now()
);
create table auth.recovery_codes (
  user_id uuid not null references auth.recovery_code_sets on delete cascade,
  -- HMAC-SHA-256 of the code.
  code_hash bytea not null check (octet_length(code_hash) = 32),
  used_at timestamptz,
  primary key (user_id, code_hash)
);

create table auth.passkey_challenges (
  id uuid primary key default gen_random_uuid(),
  -- Null for a sign-in: the passkey names the user.
  user_id uuid references auth.users on delete cascade,
  challenge text not null,
  expires_at timestamptz not null
);
create index on auth.passkey_challenges (user_id);
create index on auth.passkey_challenges (expires_at);

alter table auth.sessions
  add column factor_id uuid references auth.mfa_factors on delete set null,
  -- The passkey that started the session.
  add column passkey_id uuid references auth.webauthn_credentials on delete set null;
create index on auth.sessions (factor_id) where factor_id is not null;
create index on auth.sessions (passkey_id) where passkey_id is not null;

create table auth.sso_providers (
  id uuid primary key default gen_random_uuid(),
  entity_id text not null unique,
  metadata_xml text not null,
  attribute_mapping jsonb not null default '{}',
  disabled boolean not null default false,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);
create table auth.sso_domains (
  domain text primary key check (domain = lower(domain)),
  provider_id uuid not null references auth.sso_providers on delete cascade
);
create index on auth.sso_domains (provider_id);

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

-- Nonces for messages that a wallet signs; each is accepted once.
create table auth.web3_nonces (
  nonce text primary key,
  expires_at timestamptz not null
);

-- ID tokens that a client presented itself; each is accepted once. SHA-256 of what the provider signed.
create table auth.used_id_tokens (
  token_hash bytea primary key check (octet_length(token_hash) = 32),
  expires_at timestamptz not null
);
create index on auth.used_id_tokens (expires_at);

-- Security events, for the owner and the operator. Rows are only added: no role may change or remove them.
create table auth.audit_log (
  id bigint generated always as identity primary key,
  at timestamptz not null default now(),
  -- No foreign key: the log outlives the account. `erase_audit_log` then removes whatever names a person.
  user_id uuid,
  actor text not null check (actor in ('user', 'guest', 'service', 'operator', 'job')),
  event text not null,
  ip text,
  user_agent text,
  details jsonb not null default '{}'
);
create index on auth.audit_log (user_id, at desc);

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
create trigger only_added_to before update or delete on auth.audit_log
  for each row execute function auth.refuse_change_of_audit_log();
create trigger never_truncated before truncate on auth.audit_log
  for each statement execute function auth.refuse_change_of_audit_log();

-- Keeps the events of a deleted account without the person. The events of an account that exists stay as they are.
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

do $$
declare
  name text;
begin
  foreach name in array array['flows', 'webauthn_credentials', 'mfa_factors', 'mfa_challenges',
    'recovery_code_sets', 'recovery_codes', 'passkey_challenges', 'sso_providers', 'sso_domains', 'saml_requests',
    'web3_nonces', 'used_id_tokens', 'audit_log']
  loop
    execute format('alter table auth.%I enable row level security', name);
  end loop;
end
$$;

grant select, insert, update, delete on auth.flows, auth.webauthn_credentials, auth.mfa_factors, auth.mfa_challenges,
  auth.recovery_code_sets, auth.recovery_codes, auth.passkey_challenges, auth.sso_providers, auth.sso_domains,
  auth.saml_requests, auth.web3_nonces, auth.used_id_tokens to service_role;
grant select, insert on auth.audit_log to service_role;
revoke execute on function auth.refuse_change_of_audit_log(), auth.erase_audit_log(uuid) from public;
grant execute on function auth.erase_audit_log(uuid) to service_role;
