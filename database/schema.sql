-- Written by `npm run schema` from the migrations. For reading: never applied, never edited.

-- Schema auth

create table auth.audit_log (
  id bigint generated always as identity not null,
  at timestamp with time zone not null default now(),
  user_id uuid,
  actor text not null,
  event text not null,
  ip text,
  user_agent text,
  details jsonb not null default '{}'::jsonb,
  constraint audit_log_actor_check CHECK ((actor = ANY (ARRAY['user'::text, 'guest'::text, 'service'::text, 'operator'::text, 'job'::text]))),
  constraint audit_log_pkey PRIMARY KEY (id)
);

create table auth.earlier_links (
  link_hash bytea not null,
  user_id uuid not null,
  purpose text not null,
  address text not null,
  expires_at timestamp with time zone not null,
  flow_id uuid,
  constraint earlier_links_link_hash_check CHECK ((octet_length(link_hash) = 32)),
  constraint earlier_links_purpose_check CHECK ((purpose = ANY (ARRAY['signup'::text, 'magiclink'::text, 'recovery'::text, 'email_change_current'::text, 'email_change_new'::text]))),
  constraint earlier_links_flow_id_fkey FOREIGN KEY (flow_id) REFERENCES auth.flows(id) ON DELETE CASCADE,
  constraint earlier_links_user_id_purpose_fkey FOREIGN KEY (user_id, purpose) REFERENCES auth.one_time_tokens(user_id, purpose) ON DELETE CASCADE,
  constraint earlier_links_pkey PRIMARY KEY (link_hash)
);

create table auth.flows (
  id uuid not null default gen_random_uuid(),
  method text not null,
  provider text,
  code_challenge text,
  code_challenge_method text,
  redirect_to text not null,
  linking_user_id uuid,
  browser_hash bytea,
  provider_secrets bytea,
  user_id uuid,
  auth_code_hash bytea,
  auth_code_issued_at timestamp with time zone,
  returned_at timestamp with time zone,
  created_at timestamp with time zone not null default now(),
  expires_at timestamp with time zone not null,
  constraint flows_auth_code_hash_check CHECK ((octet_length(auth_code_hash) = 32)),
  constraint flows_browser_hash_check CHECK ((octet_length(browser_hash) = 32)),
  constraint flows_check CHECK (((code_challenge IS NULL) = (code_challenge_method IS NULL))),
  constraint flows_code_challenge_method_check CHECK ((code_challenge_method = ANY (ARRAY['s256'::text, 'plain'::text]))),
  constraint flows_linking_user_id_fkey FOREIGN KEY (linking_user_id) REFERENCES auth.users(id) ON DELETE CASCADE,
  constraint flows_user_id_fkey FOREIGN KEY (user_id) REFERENCES auth.users(id) ON DELETE CASCADE,
  constraint flows_pkey PRIMARY KEY (id),
  constraint flows_auth_code_hash_key UNIQUE (auth_code_hash)
);

create table auth.identities (
  id uuid not null default gen_random_uuid(),
  user_id uuid not null,
  provider text not null,
  provider_id text not null,
  identity_data jsonb not null,
  last_sign_in_at timestamp with time zone,
  created_at timestamp with time zone not null default now(),
  updated_at timestamp with time zone not null default now(),
  constraint identities_user_id_fkey FOREIGN KEY (user_id) REFERENCES auth.users(id) ON DELETE CASCADE,
  constraint identities_pkey PRIMARY KEY (id),
  constraint identities_provider_provider_id_key UNIQUE (provider, provider_id)
);

create table auth.mfa_challenges (
  id uuid not null default gen_random_uuid(),
  factor_id uuid not null,
  ip text not null,
  code_hash bytea,
  webauthn_challenge text,
  wrong_codes integer not null default 0,
  verified_at timestamp with time zone,
  created_at timestamp with time zone not null default now(),
  expires_at timestamp with time zone not null,
  constraint mfa_challenges_code_hash_check CHECK ((octet_length(code_hash) = 32)),
  constraint mfa_challenges_factor_id_fkey FOREIGN KEY (factor_id) REFERENCES auth.mfa_factors(id) ON DELETE CASCADE,
  constraint mfa_challenges_pkey PRIMARY KEY (id)
);

create table auth.mfa_factors (
  id uuid not null default gen_random_uuid(),
  user_id uuid not null,
  factor_type text not null,
  status text not null default 'unverified'::text,
  friendly_name text not null default ''::text,
  secret bytea,
  last_time_step bigint,
  phone text,
  credential_id uuid,
  last_challenged_at timestamp with time zone,
  created_at timestamp with time zone not null default now(),
  updated_at timestamp with time zone not null default now(),
  constraint mfa_factors_factor_type_check CHECK ((factor_type = ANY (ARRAY['totp'::text, 'phone'::text, 'webauthn'::text]))),
  constraint mfa_factors_status_check CHECK ((status = ANY (ARRAY['unverified'::text, 'verified'::text]))),
  constraint mfa_factors_credential_id_fkey FOREIGN KEY (credential_id) REFERENCES auth.webauthn_credentials(id) ON DELETE CASCADE,
  constraint mfa_factors_user_id_fkey FOREIGN KEY (user_id) REFERENCES auth.users(id) ON DELETE CASCADE,
  constraint mfa_factors_pkey PRIMARY KEY (id),
  constraint mfa_factors_user_id_friendly_name_key UNIQUE (user_id, friendly_name)
);

create table auth.one_time_tokens (
  user_id uuid not null,
  purpose text not null,
  address text not null,
  link_hash bytea,
  code_hash bytea not null,
  wrong_codes integer not null default 0,
  earlier_wrong_codes integer not null default 0,
  confirmed_at timestamp with time zone,
  created_at timestamp with time zone not null default now(),
  expires_at timestamp with time zone not null,
  flow_id uuid,
  constraint one_time_tokens_code_hash_check CHECK ((octet_length(code_hash) = 32)),
  constraint one_time_tokens_link_hash_check CHECK ((octet_length(link_hash) = 32)),
  constraint one_time_tokens_purpose_check CHECK ((purpose = ANY (ARRAY['signup'::text, 'invite'::text, 'magiclink'::text, 'recovery'::text, 'email_change_current'::text, 'email_change_new'::text, 'reauthentication'::text, 'sms'::text, 'phone_change'::text, 'undo_deletion'::text]))),
  constraint one_time_tokens_flow_id_fkey FOREIGN KEY (flow_id) REFERENCES auth.flows(id) ON DELETE CASCADE,
  constraint one_time_tokens_user_id_fkey FOREIGN KEY (user_id) REFERENCES auth.users(id) ON DELETE CASCADE,
  constraint one_time_tokens_pkey PRIMARY KEY (user_id, purpose),
  constraint one_time_tokens_link_hash_key UNIQUE (link_hash)
);

create table auth.passkey_challenges (
  id uuid not null default gen_random_uuid(),
  user_id uuid,
  challenge text not null,
  expires_at timestamp with time zone not null,
  constraint passkey_challenges_user_id_fkey FOREIGN KEY (user_id) REFERENCES auth.users(id) ON DELETE CASCADE,
  constraint passkey_challenges_pkey PRIMARY KEY (id)
);

create unlogged table auth.rate_limits (
  key character varying(255) not null,
  points integer not null default 0,
  expire bigint,
  constraint rate_limits_pkey PRIMARY KEY (key)
) with (fillfactor=70, autovacuum_vacuum_scale_factor=0.02);

create table auth.recovery_code_sets (
  user_id uuid not null,
  id uuid not null default gen_random_uuid(),
  friendly_name text not null,
  created_at timestamp with time zone not null default now(),
  constraint recovery_code_sets_user_id_fkey FOREIGN KEY (user_id) REFERENCES auth.users(id) ON DELETE CASCADE,
  constraint recovery_code_sets_pkey PRIMARY KEY (user_id),
  constraint recovery_code_sets_id_key UNIQUE (id)
);

create table auth.recovery_codes (
  user_id uuid not null,
  code_hash bytea not null,
  used_at timestamp with time zone,
  constraint recovery_codes_code_hash_check CHECK ((octet_length(code_hash) = 32)),
  constraint recovery_codes_user_id_fkey FOREIGN KEY (user_id) REFERENCES auth.recovery_code_sets(user_id) ON DELETE CASCADE,
  constraint recovery_codes_pkey PRIMARY KEY (user_id, code_hash)
);

create table auth.refresh_tokens (
  session_id uuid not null,
  generation integer not null,
  token_hash bytea not null,
  salt bytea not null,
  created_at timestamp with time zone not null default now(),
  reissued_at timestamp with time zone,
  constraint refresh_tokens_generation_check CHECK ((generation > 0)),
  constraint refresh_tokens_token_hash_check CHECK ((octet_length(token_hash) = 32)),
  constraint refresh_tokens_session_id_fkey FOREIGN KEY (session_id) REFERENCES auth.sessions(id) ON DELETE CASCADE,
  constraint refresh_tokens_pkey PRIMARY KEY (session_id, generation),
  constraint refresh_tokens_token_hash_key UNIQUE (token_hash)
) with (autovacuum_vacuum_scale_factor=0.02, autovacuum_analyze_scale_factor=0.02);

create table auth.saml_requests (
  id text not null,
  flow_id uuid not null,
  provider_id uuid not null,
  created_at timestamp with time zone not null default now(),
  expires_at timestamp with time zone not null,
  constraint saml_requests_flow_id_fkey FOREIGN KEY (flow_id) REFERENCES auth.flows(id) ON DELETE CASCADE,
  constraint saml_requests_provider_id_fkey FOREIGN KEY (provider_id) REFERENCES auth.sso_providers(id) ON DELETE CASCADE,
  constraint saml_requests_pkey PRIMARY KEY (id)
);

create table auth.sessions (
  id uuid not null default gen_random_uuid(),
  user_id uuid not null,
  aal text not null default 'aal1'::text,
  amr jsonb not null default '[]'::jsonb,
  ip text,
  user_agent text,
  created_at timestamp with time zone not null default now(),
  refreshed_at timestamp with time zone,
  factor_id uuid,
  passkey_id uuid,
  constraint sessions_aal_check CHECK ((aal = ANY (ARRAY['aal1'::text, 'aal2'::text, 'aal3'::text]))),
  constraint sessions_factor_id_fkey FOREIGN KEY (factor_id) REFERENCES auth.mfa_factors(id) ON DELETE SET NULL,
  constraint sessions_passkey_id_fkey FOREIGN KEY (passkey_id) REFERENCES auth.webauthn_credentials(id) ON DELETE SET NULL,
  constraint sessions_user_id_fkey FOREIGN KEY (user_id) REFERENCES auth.users(id) ON DELETE CASCADE,
  constraint sessions_pkey PRIMARY KEY (id)
) with (fillfactor=80, autovacuum_vacuum_scale_factor=0.02, autovacuum_analyze_scale_factor=0.02);

create table auth.signing_keys (
  is_only_row boolean not null default true,
  key_set text not null,
  rotated_at timestamp with time zone not null default now(),
  constraint signing_keys_is_only_row_check CHECK (is_only_row),
  constraint signing_keys_pkey PRIMARY KEY (is_only_row)
);

create table auth.sso_domains (
  domain text not null,
  provider_id uuid not null,
  constraint sso_domains_domain_check CHECK ((domain = lower(domain))),
  constraint sso_domains_provider_id_fkey FOREIGN KEY (provider_id) REFERENCES auth.sso_providers(id) ON DELETE CASCADE,
  constraint sso_domains_pkey PRIMARY KEY (domain)
);

create table auth.sso_providers (
  id uuid not null default gen_random_uuid(),
  entity_id text not null,
  metadata_xml text not null,
  attribute_mapping jsonb not null default '{}'::jsonb,
  disabled boolean not null default false,
  created_at timestamp with time zone not null default now(),
  updated_at timestamp with time zone not null default now(),
  constraint sso_providers_pkey PRIMARY KEY (id),
  constraint sso_providers_entity_id_key UNIQUE (entity_id)
);

create table auth.used_id_tokens (
  token_hash bytea not null,
  expires_at timestamp with time zone not null,
  constraint used_id_tokens_token_hash_check CHECK ((octet_length(token_hash) = 32)),
  constraint used_id_tokens_pkey PRIMARY KEY (token_hash)
);

create table auth.users (
  id uuid not null default gen_random_uuid(),
  aud text not null default 'authenticated'::text,
  role text not null default 'authenticated'::text,
  email text,
  password_hash text,
  email_confirmed_at timestamp with time zone,
  invited_at timestamp with time zone,
  phone text,
  phone_confirmed_at timestamp with time zone,
  confirmation_sent_at timestamp with time zone,
  recovery_sent_at timestamp with time zone,
  reauthentication_sent_at timestamp with time zone,
  new_email text,
  email_change_sent_at timestamp with time zone,
  existing_account_notice_sent_at timestamp with time zone,
  last_sign_in_at timestamp with time zone,
  raw_app_meta_data jsonb not null default '{}'::jsonb,
  raw_user_meta_data jsonb not null default '{}'::jsonb,
  is_anonymous boolean not null default false,
  banned_until timestamp with time zone,
  created_at timestamp with time zone not null default now(),
  updated_at timestamp with time zone not null default now(),
  new_phone text,
  phone_change_sent_at timestamp with time zone,
  magiclink_sent_at timestamp with time zone,
  new_device_notice_sent_at timestamp with time zone,
  factor_guess_notice_sent_at timestamp with time zone,
  is_sso_user boolean not null default false,
  deletion_due_at timestamp with time zone,
  deleted_at timestamp with time zone,
  email_proven_at timestamp with time zone,
  constraint users_email_check CHECK ((email = lower(email))),
  constraint users_new_email_check CHECK ((new_email = lower(new_email))),
  constraint users_pkey PRIMARY KEY (id),
  constraint users_phone_key UNIQUE (phone)
);

create table auth.web3_nonces (
  nonce text not null,
  expires_at timestamp with time zone not null,
  constraint web3_nonces_pkey PRIMARY KEY (nonce)
);

create table auth.webauthn_credentials (
  id uuid not null default gen_random_uuid(),
  user_id uuid not null,
  purpose text not null,
  credential_id bytea not null,
  public_key bytea not null,
  sign_count bigint not null default 0,
  transports text[] not null default '{}'::text[],
  aaguid uuid not null,
  backed_up boolean not null default false,
  friendly_name text not null default ''::text,
  created_at timestamp with time zone not null default now(),
  updated_at timestamp with time zone not null default now(),
  last_used_at timestamp with time zone,
  constraint webauthn_credentials_purpose_check CHECK ((purpose = ANY (ARRAY['passkey'::text, 'factor'::text]))),
  constraint webauthn_credentials_user_id_fkey FOREIGN KEY (user_id) REFERENCES auth.users(id) ON DELETE CASCADE,
  constraint webauthn_credentials_pkey PRIMARY KEY (id),
  constraint webauthn_credentials_credential_id_key UNIQUE (credential_id)
);

CREATE INDEX audit_log_user_id_at_idx ON auth.audit_log USING btree (user_id, at DESC);
CREATE INDEX earlier_links_flow_id_idx ON auth.earlier_links USING btree (flow_id) WHERE (flow_id IS NOT NULL);
CREATE INDEX earlier_links_user_id_purpose_idx ON auth.earlier_links USING btree (user_id, purpose);
CREATE INDEX flows_expires_at_idx ON auth.flows USING btree (expires_at);
CREATE INDEX flows_linking_user_id_idx ON auth.flows USING btree (linking_user_id);
CREATE INDEX flows_user_id_idx ON auth.flows USING btree (user_id);
CREATE INDEX identities_user_id_idx ON auth.identities USING btree (user_id);
CREATE INDEX mfa_challenges_expires_at_idx ON auth.mfa_challenges USING btree (expires_at);
CREATE INDEX mfa_challenges_factor_id_idx ON auth.mfa_challenges USING btree (factor_id);
CREATE INDEX mfa_factors_credential_id_idx ON auth.mfa_factors USING btree (credential_id) WHERE (credential_id IS NOT NULL);
CREATE INDEX mfa_factors_unverified ON auth.mfa_factors USING btree (created_at) WHERE (status = 'unverified'::text);
CREATE INDEX one_time_tokens_address_idx ON auth.one_time_tokens USING btree (address);
CREATE INDEX one_time_tokens_expired ON auth.one_time_tokens USING btree (expires_at);
CREATE INDEX one_time_tokens_flow_id_idx ON auth.one_time_tokens USING btree (flow_id) WHERE (flow_id IS NOT NULL);
CREATE INDEX passkey_challenges_expires_at_idx ON auth.passkey_challenges USING btree (expires_at);
CREATE INDEX passkey_challenges_user_id_idx ON auth.passkey_challenges USING btree (user_id);
CREATE INDEX rate_limits_expire_idx ON auth.rate_limits USING btree (expire);
CREATE INDEX saml_requests_flow_id_idx ON auth.saml_requests USING btree (flow_id);
CREATE INDEX saml_requests_provider_id_idx ON auth.saml_requests USING btree (provider_id);
CREATE INDEX sessions_factor_id_idx ON auth.sessions USING btree (factor_id) WHERE (factor_id IS NOT NULL);
CREATE INDEX sessions_passkey_id_idx ON auth.sessions USING btree (passkey_id) WHERE (passkey_id IS NOT NULL);
CREATE INDEX sessions_user_id_idx ON auth.sessions USING btree (user_id);
CREATE INDEX sso_domains_provider_id_idx ON auth.sso_domains USING btree (provider_id);
CREATE INDEX used_id_tokens_expires_at_idx ON auth.used_id_tokens USING btree (expires_at);
CREATE INDEX users_deletion_due ON auth.users USING btree (deletion_due_at) WHERE (deletion_due_at IS NOT NULL);
CREATE UNIQUE INDEX users_email_key ON auth.users USING btree (email) WHERE (NOT is_sso_user);
CREATE INDEX users_unconfirmed ON auth.users USING btree (created_at) WHERE ((email_confirmed_at IS NULL) AND (phone_confirmed_at IS NULL));
CREATE INDEX webauthn_credentials_user_id_idx ON auth.webauthn_credentials USING btree (user_id);

CREATE OR REPLACE FUNCTION auth.erase_audit_log(erased_user uuid)
 RETURNS void
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO ''
AS $function$
begin
  if exists (select from auth.users where id = erased_user) then
    raise exception 'the account exists' using errcode = 'restrict_violation';
  end if;
  perform set_config('auth.erasing_audit_log', 'on', true);
  update auth.audit_log set user_id = null, ip = null, user_agent = null, details = '{}' where user_id = erased_user;
  perform set_config('auth.erasing_audit_log', 'off', true);
end
$function$;

CREATE OR REPLACE FUNCTION auth.jwt()
 RETURNS jsonb
 LANGUAGE sql
 STABLE
RETURN (NULLIF(current_setting('request.jwt.claims'::text, true), ''::text))::jsonb;

CREATE OR REPLACE FUNCTION auth.purge_audit_log(max_rows integer)
 RETURNS integer
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO ''
AS $function$
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
$function$;

CREATE OR REPLACE FUNCTION auth.refuse_change_of_audit_log()
 RETURNS trigger
 LANGUAGE plpgsql
 SET search_path TO ''
AS $function$
begin
  if current_setting('auth.erasing_audit_log', true) = 'on' then
    return coalesce(new, old);
  end if;
  raise exception 'audit rows are only added' using errcode = 'restrict_violation';
end
$function$;

CREATE OR REPLACE FUNCTION auth.role()
 RETURNS text
 LANGUAGE sql
 STABLE
RETURN ((NULLIF(current_setting('request.jwt.claims'::text, true), ''::text))::json ->> 'role'::text);

CREATE OR REPLACE FUNCTION auth.uid()
 RETURNS uuid
 LANGUAGE sql
 STABLE
RETURN (((NULLIF(current_setting('request.jwt.claims'::text, true), ''::text))::json ->> 'sub'::text))::uuid;

CREATE TRIGGER never_truncated BEFORE TRUNCATE ON auth.audit_log FOR EACH STATEMENT EXECUTE FUNCTION auth.refuse_change_of_audit_log();
CREATE TRIGGER only_added_to BEFORE DELETE OR UPDATE ON auth.audit_log FOR EACH ROW EXECUTE FUNCTION auth.refuse_change_of_audit_log();
CREATE TRIGGER make_profile AFTER INSERT ON auth.users FOR EACH ROW EXECUTE FUNCTION public.make_profile();

alter table auth.audit_log enable row level security;
alter table auth.earlier_links enable row level security;
alter table auth.flows enable row level security;
alter table auth.identities enable row level security;
alter table auth.mfa_challenges enable row level security;
alter table auth.mfa_factors enable row level security;
alter table auth.one_time_tokens enable row level security;
alter table auth.passkey_challenges enable row level security;
alter table auth.rate_limits enable row level security;
alter table auth.recovery_code_sets enable row level security;
alter table auth.recovery_codes enable row level security;
alter table auth.refresh_tokens enable row level security;
alter table auth.saml_requests enable row level security;
alter table auth.sessions enable row level security;
alter table auth.signing_keys enable row level security, force row level security;
alter table auth.sso_domains enable row level security;
alter table auth.sso_providers enable row level security;
alter table auth.used_id_tokens enable row level security;
alter table auth.users enable row level security;
alter table auth.web3_nonces enable row level security;
alter table auth.webauthn_credentials enable row level security;

grant delete on auth.earlier_links to service_role;
grant delete on auth.flows to service_role;
grant delete on auth.identities to service_role;
grant delete on auth.mfa_challenges to service_role;
grant delete on auth.mfa_factors to service_role;
grant delete on auth.one_time_tokens to service_role;
grant delete on auth.passkey_challenges to service_role;
grant delete on auth.rate_limits to service_role;
grant delete on auth.recovery_code_sets to service_role;
grant delete on auth.recovery_codes to service_role;
grant delete on auth.refresh_tokens to service_role;
grant delete on auth.saml_requests to service_role;
grant delete on auth.sessions to service_role;
grant delete on auth.signing_keys to service_role;
grant delete on auth.sso_domains to service_role;
grant delete on auth.sso_providers to service_role;
grant delete on auth.used_id_tokens to service_role;
grant delete on auth.users to service_role;
grant delete on auth.web3_nonces to service_role;
grant delete on auth.webauthn_credentials to service_role;
grant execute on function auth.erase_audit_log(uuid) to service_role;
grant execute on function auth.jwt() to anon;
grant execute on function auth.jwt() to authenticated;
grant execute on function auth.jwt() to service_role;
grant execute on function auth.purge_audit_log(integer) to service_role;
grant execute on function auth.role() to anon;
grant execute on function auth.role() to authenticated;
grant execute on function auth.role() to service_role;
grant execute on function auth.uid() to anon;
grant execute on function auth.uid() to authenticated;
grant execute on function auth.uid() to service_role;
grant insert on auth.audit_log to service_role;
grant insert on auth.earlier_links to service_role;
grant insert on auth.flows to service_role;
grant insert on auth.identities to service_role;
grant insert on auth.mfa_challenges to service_role;
grant insert on auth.mfa_factors to service_role;
grant insert on auth.one_time_tokens to service_role;
grant insert on auth.passkey_challenges to service_role;
grant insert on auth.rate_limits to service_role;
grant insert on auth.recovery_code_sets to service_role;
grant insert on auth.recovery_codes to service_role;
grant insert on auth.refresh_tokens to service_role;
grant insert on auth.saml_requests to service_role;
grant insert on auth.sessions to service_role;
grant insert on auth.signing_keys to service_role;
grant insert on auth.sso_domains to service_role;
grant insert on auth.sso_providers to service_role;
grant insert on auth.used_id_tokens to service_role;
grant insert on auth.users to service_role;
grant insert on auth.web3_nonces to service_role;
grant insert on auth.webauthn_credentials to service_role;
grant select on auth.audit_log to service_role;
grant select on auth.earlier_links to service_role;
grant select on auth.flows to service_role;
grant select on auth.identities to service_role;
grant select on auth.mfa_challenges to service_role;
grant select on auth.mfa_factors to service_role;
grant select on auth.one_time_tokens to service_role;
grant select on auth.passkey_challenges to service_role;
grant select on auth.rate_limits to service_role;
grant select on auth.recovery_code_sets to service_role;
grant select on auth.recovery_codes to service_role;
grant select on auth.refresh_tokens to service_role;
grant select on auth.saml_requests to service_role;
grant select on auth.sessions to service_role;
grant select on auth.signing_keys to service_role;
grant select on auth.sso_domains to service_role;
grant select on auth.sso_providers to service_role;
grant select on auth.used_id_tokens to service_role;
grant select on auth.users to service_role;
grant select on auth.web3_nonces to service_role;
grant select on auth.webauthn_credentials to service_role;
grant update on auth.earlier_links to service_role;
grant update on auth.flows to service_role;
grant update on auth.identities to service_role;
grant update on auth.mfa_challenges to service_role;
grant update on auth.mfa_factors to service_role;
grant update on auth.one_time_tokens to service_role;
grant update on auth.passkey_challenges to service_role;
grant update on auth.rate_limits to service_role;
grant update on auth.recovery_code_sets to service_role;
grant update on auth.recovery_codes to service_role;
grant update on auth.refresh_tokens to service_role;
grant update on auth.saml_requests to service_role;
grant update on auth.sessions to service_role;
grant update on auth.signing_keys to service_role;
grant update on auth.sso_domains to service_role;
grant update on auth.sso_providers to service_role;
grant update on auth.used_id_tokens to service_role;
grant update on auth.users to service_role;
grant update on auth.web3_nonces to service_role;
grant update on auth.webauthn_credentials to service_role;
grant usage on schema auth to anon;
grant usage on schema auth to authenticated;
grant usage on schema auth to service_role;

-- Schema public

create table public.access_tokens (
  user_id uuid not null,
  id uuid not null default gen_random_uuid(),
  name text not null,
  scopes text[] not null,
  token_hash bytea not null,
  time_zone text,
  created_at timestamp with time zone not null default now(),
  expires_at timestamp with time zone not null,
  last_used_at timestamp with time zone,
  constraint access_tokens_hash_length CHECK ((octet_length(token_hash) = 32)),
  constraint access_tokens_known_scopes CHECK ((((cardinality(scopes) >= 1) AND (cardinality(scopes) <= 2)) AND (scopes <@ ARRAY['append'::text, 'read'::text]))),
  constraint access_tokens_name_length CHECK (((char_length(name) >= 1) AND (char_length(name) <= 60))),
  constraint access_tokens_zone_length CHECK ((char_length(time_zone) <= 64)),
  constraint access_tokens_user_id_fkey FOREIGN KEY (user_id) REFERENCES auth.users(id) ON DELETE CASCADE,
  constraint access_tokens_pkey PRIMARY KEY (user_id, id),
  constraint access_tokens_token_hash_key UNIQUE (user_id, token_hash)
);

create table public.analyses (
  user_id uuid not null,
  id uuid not null default gen_random_uuid(),
  kind text not null,
  date date,
  period_from date,
  period_to date,
  input_hash text not null,
  provider text not null,
  model text not null,
  model_version text,
  prompt_version integer not null,
  finish_reason text not null,
  input_tokens integer,
  output_tokens integer,
  duration_ms integer not null,
  score integer,
  text text not null,
  cited smallint[] not null default '{}'::smallint[],
  missing_fact text,
  created_at timestamp with time zone not null default now(),
  cited_refs text[],
  constraint analyses_known_kind CHECK ((kind = ANY (ARRAY['feedback'::text, 'trend'::text]))),
  constraint analyses_score_range CHECK (((score >= 1) AND (score <= 10))),
  constraint analyses_whole CHECK ((((kind = 'feedback'::text) AND (date IS NOT NULL) AND (score IS NOT NULL) AND (period_from IS NULL) AND (period_to IS NULL)) OR ((kind = 'trend'::text) AND (date IS NULL) AND (score IS NULL) AND (period_from <= period_to)))),
  constraint analyses_of_entry FOREIGN KEY (user_id, date) REFERENCES public.entries(user_id, date) ON DELETE CASCADE DEFERRABLE INITIALLY DEFERRED,
  constraint analyses_user_id_fkey FOREIGN KEY (user_id) REFERENCES auth.users(id) ON DELETE CASCADE,
  constraint analyses_pkey PRIMARY KEY (user_id, id)
);

create table public.analysis_runs (
  user_id uuid not null,
  kind text not null,
  key text not null,
  run uuid not null,
  lease_until timestamp with time zone not null,
  counted_on date not null,
  tries integer not null,
  constraint analysis_runs_known_kind CHECK ((kind = ANY (ARRAY['feedback'::text, 'trend'::text]))),
  constraint analysis_runs_user_id_fkey FOREIGN KEY (user_id) REFERENCES auth.users(id) ON DELETE CASCADE,
  constraint analysis_runs_pkey PRIMARY KEY (user_id, kind, key)
);

create table public.appended_items (
  user_id uuid not null,
  key text not null,
  items_hash text not null,
  date date not null,
  revision integer not null,
  created_at timestamp with time zone not null default now(),
  constraint appended_items_hash_length CHECK ((char_length(items_hash) = 43)),
  constraint appended_items_key_length CHECK (((char_length(key) >= 1) AND (char_length(key) <= 200))),
  constraint appended_items_user_id_fkey FOREIGN KEY (user_id) REFERENCES auth.users(id) ON DELETE CASCADE,
  constraint appended_items_pkey PRIMARY KEY (user_id, key)
) with (autovacuum_vacuum_scale_factor=0.02, autovacuum_analyze_scale_factor=0.02);

create table public.coach_reader (
  only_one boolean not null default true,
  name text not null,
  since timestamp with time zone not null default now(),
  constraint coach_reader_only_one CHECK (only_one),
  constraint coach_reader_pkey PRIMARY KEY (only_one)
);

create table public.connect_requests (
  code_hash bytea not null,
  user_code text,
  client_name text not null,
  scopes text[] not null,
  slack_team text,
  slack_user text,
  created_at timestamp with time zone not null default now(),
  expires_at timestamp with time zone not null,
  poll_seconds smallint not null default 5,
  polled_at timestamp with time zone,
  approved_by uuid,
  token_days smallint,
  time_zone text,
  denied_at timestamp with time zone,
  constraint connect_requests_hash_length CHECK ((octet_length(code_hash) = 32)),
  constraint connect_requests_name_length CHECK (((char_length(client_name) >= 1) AND (char_length(client_name) <= 60))),
  constraint connect_requests_whole CHECK (((user_code IS NULL) = ((slack_team IS NOT NULL) AND (slack_user IS NOT NULL)))),
  constraint connect_requests_approved_by_fkey FOREIGN KEY (approved_by) REFERENCES auth.users(id) ON DELETE CASCADE,
  constraint connect_requests_pkey PRIMARY KEY (code_hash),
  constraint connect_requests_user_code_key UNIQUE (user_code)
);

create table public.document_links (
  user_id uuid not null,
  id uuid not null default gen_random_uuid(),
  document_id uuid,
  review_id uuid,
  token_hash bytea not null,
  created_at timestamp with time zone not null default now(),
  expires_at timestamp with time zone not null,
  constraint document_links_expiry CHECK ((expires_at <= (created_at + '2161:00:00'::interval))),
  constraint document_links_one_target CHECK ((num_nonnulls(document_id, review_id) = 1)),
  constraint document_links_token_hash CHECK ((octet_length(token_hash) = 32)),
  constraint document_links_of_document FOREIGN KEY (user_id, document_id) REFERENCES public.documents(user_id, id) ON DELETE CASCADE,
  constraint document_links_of_review FOREIGN KEY (user_id, review_id) REFERENCES public.reviews(user_id, id) ON DELETE CASCADE,
  constraint document_links_user_id_fkey FOREIGN KEY (user_id) REFERENCES auth.users(id) ON DELETE CASCADE,
  constraint document_links_pkey PRIMARY KEY (user_id, id),
  constraint document_links_token_hash_key UNIQUE (token_hash)
);

create table public.documents (
  user_id uuid not null,
  id uuid not null default gen_random_uuid(),
  title text not null,
  first_day date not null,
  last_day date not null,
  content text not null,
  revision integer not null default 1,
  created_at timestamp with time zone not null default now(),
  updated_at timestamp with time zone not null default now(),
  constraint documents_content_size CHECK ((octet_length(content) <= 262144)),
  constraint documents_period CHECK ((first_day <= last_day)),
  constraint documents_title_length CHECK ((char_length(title) <= 200)),
  constraint documents_user_id_fkey FOREIGN KEY (user_id) REFERENCES auth.users(id) ON DELETE CASCADE,
  constraint documents_pkey PRIMARY KEY (user_id, id)
);

create table public.entries (
  user_id uuid not null,
  date date not null,
  id uuid not null default gen_random_uuid(),
  content text not null,
  content_text text not null default ''::text,
  revision integer not null default 1,
  created_at timestamp with time zone not null default now(),
  updated_at timestamp with time zone not null default now(),
  ai_feedback text,
  hustle_score integer,
  ai_analyzed_at timestamp with time zone,
  constraint entries_calendar_date CHECK (((date >= '0001-01-01'::date) AND (date <= '9999-12-31'::date))),
  constraint entries_content_size CHECK ((octet_length(content) <= (262144 + 64))),
  constraint entries_score_range CHECK (((hustle_score >= 1) AND (hustle_score <= 10))),
  constraint entries_user_id_fkey FOREIGN KEY (user_id) REFERENCES auth.users(id) ON DELETE CASCADE,
  constraint entries_pkey PRIMARY KEY (user_id, date),
  constraint entries_id_key UNIQUE (user_id, id)
) with (fillfactor=70, autovacuum_vacuum_scale_factor=0.02, autovacuum_vacuum_insert_scale_factor=0.02, autovacuum_analyze_scale_factor=0.02);

create table public.entry_versions (
  user_id uuid not null,
  date date not null,
  id uuid not null default gen_random_uuid(),
  entry_id uuid not null,
  content text not null,
  written_at timestamp with time zone not null,
  kept_at timestamp with time zone not null default clock_timestamp(),
  replaced_by text not null,
  feedback jsonb,
  constraint entry_versions_known_change CHECK ((replaced_by = ANY (ARRAY['edit'::text, 'drop'::text, 'restore'::text, 'deletion'::text]))),
  constraint entry_versions_user_id_fkey FOREIGN KEY (user_id) REFERENCES auth.users(id) ON DELETE CASCADE,
  constraint entry_versions_pkey PRIMARY KEY (user_id, date, id)
) with (autovacuum_vacuum_scale_factor=0.02, autovacuum_analyze_scale_factor=0.02);

create table public.entry_words (
  user_id uuid not null,
  date date not null,
  revision integer not null,
  words text not null,
  tags text[] not null default '{}'::text[],
  tags_revision integer,
  constraint entry_words_user_id_date_fkey FOREIGN KEY (user_id, date) REFERENCES public.entries(user_id, date) ON DELETE CASCADE DEFERRABLE INITIALLY DEFERRED,
  constraint entry_words_pkey PRIMARY KEY (user_id, date)
) with (autovacuum_vacuum_scale_factor=0.02, autovacuum_analyze_scale_factor=0.02);

create table public.import_days (
  user_id uuid not null,
  import_id uuid not null,
  date date not null,
  entry_id uuid not null,
  revision integer not null,
  change text not null,
  earlier_coach jsonb,
  written_at timestamp with time zone not null default now(),
  program text,
  constraint import_days_known_change CHECK ((change = ANY (ARRAY['added'::text, 'filled'::text, 'replaced'::text, 'feedback'::text]))),
  constraint import_days_user_id_fkey FOREIGN KEY (user_id) REFERENCES auth.users(id) ON DELETE CASCADE,
  constraint import_days_pkey PRIMARY KEY (user_id, import_id, date)
);

create table public.mail_tokens (
  user_id uuid not null,
  token_hash bytea not null,
  purpose text not null,
  day date not null,
  expires_at timestamp with time zone not null,
  constraint mail_tokens_known_purpose CHECK ((purpose = ANY (ARRAY['tap'::text, 'reply'::text]))),
  constraint mail_tokens_user_id_fkey FOREIGN KEY (user_id) REFERENCES auth.users(id) ON DELETE CASCADE,
  constraint mail_tokens_pkey PRIMARY KEY (user_id, token_hash)
);

create table public.payment_changes (
  payment_id uuid not null,
  id bigint generated always as identity not null,
  status text not null,
  changed_at timestamp with time zone not null default now(),
  constraint payment_changes_payment_id_fkey FOREIGN KEY (payment_id) REFERENCES public.payments(id),
  constraint payment_changes_pkey PRIMARY KEY (payment_id, id)
);

create table public.payment_events (
  id text not null,
  type text not null,
  raw text not null,
  received_at timestamp with time zone not null default now(),
  processed_at timestamp with time zone,
  constraint payment_events_pkey PRIMARY KEY (id)
);

create table public.payment_ledger (
  payment_id uuid not null,
  id bigint generated always as identity not null,
  kind text not null,
  amount_minor integer not null,
  currency text not null,
  provider_ref text not null,
  booked_at timestamp with time zone not null default now(),
  constraint payment_ledger_amount_range CHECK ((amount_minor >= 0)),
  constraint payment_ledger_known_kind CHECK ((kind = ANY (ARRAY['capture'::text, 'fee'::text, 'refund'::text, 'reversal'::text]))),
  constraint payment_ledger_payment_id_fkey FOREIGN KEY (payment_id) REFERENCES public.payments(id),
  constraint payment_ledger_pkey PRIMARY KEY (payment_id, id),
  constraint payment_ledger_booked_once UNIQUE (kind, provider_ref)
);

create table public.payments (
  id uuid not null default gen_random_uuid(),
  user_id uuid not null,
  provider text not null default 'paypal'::text,
  order_id text,
  capture_id text,
  amount_minor integer not null,
  currency text not null,
  country text,
  status text not null default 'created'::text,
  lease_until timestamp with time zone,
  due_at timestamp with time zone,
  refused_captures integer not null default 0,
  refund_requested_at timestamp with time zone,
  approval_url text,
  debug_id text,
  created_at timestamp with time zone not null default now(),
  updated_at timestamp with time zone not null default now(),
  completed_at timestamp with time zone,
  receipt_mailed_at timestamp with time zone,
  mail_due_at timestamp with time zone,
  constraint payments_amount_range CHECK ((amount_minor > 0)),
  constraint payments_country_code CHECK ((country ~ '^[A-Z]{2}$'::text)),
  constraint payments_currency_code CHECK ((currency ~ '^[A-Z]{3}$'::text)),
  constraint payments_known_provider CHECK ((provider = 'paypal'::text)),
  constraint payments_known_status CHECK ((status = ANY (ARRAY['created'::text, 'approved'::text, 'capturing'::text, 'pending'::text, 'completed'::text, 'declined'::text, 'voided'::text, 'expired'::text, 'refunded'::text, 'reversed'::text, 'needs_review'::text]))),
  constraint payments_pkey PRIMARY KEY (id),
  constraint payments_capture_id_key UNIQUE (capture_id),
  constraint payments_order_id_key UNIQUE (order_id)
);

create table public.plan_changes (
  user_id uuid not null,
  id bigint generated always as identity not null,
  plan text not null,
  access_valid_until date,
  reason text not null,
  changed_at timestamp with time zone not null default now(),
  payment_id uuid,
  valid_from date,
  constraint plan_changes_known_plan CHECK ((plan = ANY (ARRAY['free'::text, 'premium'::text]))),
  constraint plan_changes_reason CHECK ((reason <> ''::text)),
  constraint plan_changes_payment_id_fkey FOREIGN KEY (payment_id) REFERENCES public.payments(id),
  constraint plan_changes_pkey PRIMARY KEY (user_id, id)
);

create table public.plan_reminders (
  user_id uuid not null,
  access_valid_until date not null,
  days_before integer not null,
  mailed_at timestamp with time zone not null default now(),
  constraint plan_reminders_user_id_fkey FOREIGN KEY (user_id) REFERENCES auth.users(id) ON DELETE CASCADE,
  constraint plan_reminders_pkey PRIMARY KEY (user_id, access_valid_until, days_before)
);

create table public.plan_uses (
  user_id uuid not null,
  id bigint generated always as identity not null,
  kind text not null,
  used_at timestamp with time zone not null default now(),
  constraint plan_uses_known_kind CHECK ((kind = ANY (ARRAY['export'::text, 'analysis'::text]))),
  constraint plan_uses_pkey PRIMARY KEY (user_id, id)
);

create table public.preferences (
  user_id uuid not null,
  time_zone text,
  workdays smallint[] not null default '{1,2,3,4,5}'::smallint[],
  remind_at smallint,
  remind_by_mail boolean not null default false,
  remind_by_push boolean not null default false,
  digest boolean not null default false,
  digest_review boolean not null default false,
  day_ends_at smallint not null default 0,
  prompts boolean not null default false,
  constraint preferences_known_day_end CHECK ((day_ends_at = ANY (ARRAY[0, 3]))),
  constraint preferences_known_workdays CHECK (((workdays <@ '{0,1,2,3,4,5,6}'::smallint[]) AND (cardinality(workdays) <= 7))),
  constraint preferences_remind_by_day CHECK (((remind_at >= 360) AND (remind_at <= 1380))),
  constraint preferences_time_zone_name CHECK ((time_zone ~ '^[A-Za-z0-9+_/-]{1,64}$'::text)),
  constraint preferences_user_id_fkey FOREIGN KEY (user_id) REFERENCES auth.users(id) ON DELETE CASCADE,
  constraint preferences_pkey PRIMARY KEY (user_id)
);

create table public.profiles (
  id uuid not null,
  country text,
  subscription_plan text not null default 'free'::text,
  access_valid_until date,
  ai_consent boolean not null default false,
  created_at timestamp with time zone not null default now(),
  updated_at timestamp with time zone not null default now(),
  constraint profiles_country_code CHECK ((country ~ '^[A-Z]{2}$'::text)),
  constraint profiles_known_plan CHECK ((subscription_plan = ANY (ARRAY['free'::text, 'premium'::text]))),
  constraint profiles_id_fkey FOREIGN KEY (id) REFERENCES auth.users(id) ON DELETE CASCADE,
  constraint profiles_pkey PRIMARY KEY (id)
);

create table public.push_subscriptions (
  user_id uuid not null,
  id uuid not null default gen_random_uuid(),
  session_id uuid not null,
  endpoint text not null,
  p256dh bytea not null,
  auth bytea not null,
  device text not null,
  renewal_hash bytea not null,
  created_at timestamp with time zone not null default now(),
  last_sent_at timestamp with time zone,
  constraint push_subscriptions_device_length CHECK (((char_length(device) >= 1) AND (char_length(device) <= 100))),
  constraint push_subscriptions_endpoint_length CHECK (((char_length(endpoint) >= 1) AND (char_length(endpoint) <= 2000))),
  constraint push_subscriptions_key_length CHECK ((octet_length(p256dh) = 65)),
  constraint push_subscriptions_renewal_hash CHECK ((octet_length(renewal_hash) = 32)),
  constraint push_subscriptions_secret_length CHECK ((octet_length(auth) = 16)),
  constraint push_subscriptions_session_id_fkey FOREIGN KEY (session_id) REFERENCES auth.sessions(id) ON DELETE CASCADE,
  constraint push_subscriptions_user_id_fkey FOREIGN KEY (user_id) REFERENCES auth.users(id) ON DELETE CASCADE,
  constraint push_subscriptions_pkey PRIMARY KEY (user_id, id),
  constraint push_subscriptions_endpoint_key UNIQUE (endpoint)
);

create table public.reminder_schedule (
  user_id uuid not null,
  kind text not null,
  due_at timestamp with time zone not null,
  day date,
  sent_day date,
  on_since timestamp with time zone not null,
  leased_until timestamp with time zone,
  lease uuid,
  constraint reminder_schedule_known_kind CHECK ((kind = ANY (ARRAY['reminder'::text, 'digest'::text]))),
  constraint reminder_schedule_user_id_fkey FOREIGN KEY (user_id) REFERENCES auth.users(id) ON DELETE CASCADE,
  constraint reminder_schedule_pkey PRIMARY KEY (user_id, kind)
);

create table public.reviews (
  user_id uuid not null,
  id uuid not null default gen_random_uuid(),
  period text not null,
  period_from date not null,
  period_to date not null,
  entry_count integer,
  text text not null,
  logs_fingerprint text,
  created_at timestamp with time zone not null default now(),
  constraint reviews_known_period CHECK ((period = ANY (ARRAY['7-day'::text, '30-day'::text, 'quarter'::text, 'year'::text]))),
  constraint reviews_period_order CHECK ((period_from <= period_to)),
  constraint reviews_user_id_fkey FOREIGN KEY (user_id) REFERENCES auth.users(id) ON DELETE CASCADE,
  constraint reviews_pkey PRIMARY KEY (user_id, id)
);

create table public.slack_links (
  team_id text not null,
  slack_user text not null,
  user_id uuid not null,
  name text not null,
  time_zone text,
  created_at timestamp with time zone not null default now(),
  constraint slack_links_name_length CHECK (((char_length(name) >= 1) AND (char_length(name) <= 60))),
  constraint slack_links_team_length CHECK (((char_length(team_id) >= 1) AND (char_length(team_id) <= 40))),
  constraint slack_links_user_length CHECK (((char_length(slack_user) >= 1) AND (char_length(slack_user) <= 40))),
  constraint slack_links_zone_length CHECK ((char_length(time_zone) <= 64)),
  constraint slack_links_user_id_fkey FOREIGN KEY (user_id) REFERENCES auth.users(id) ON DELETE CASCADE,
  constraint slack_links_pkey PRIMARY KEY (team_id, slack_user)
);

create table public.time_off (
  user_id uuid not null,
  id uuid not null default gen_random_uuid(),
  first_day date not null,
  last_day date not null,
  created_at timestamp with time zone not null default now(),
  constraint time_off_dates CHECK (((first_day >= '0001-01-01'::date) AND (last_day <= '9999-12-31'::date))),
  constraint time_off_length CHECK (((last_day - first_day) < 3653)),
  constraint time_off_order CHECK ((first_day <= last_day)),
  constraint time_off_user_id_fkey FOREIGN KEY (user_id) REFERENCES auth.users(id) ON DELETE CASCADE,
  constraint time_off_pkey PRIMARY KEY (user_id, id)
);

create view public.deleted_days with (security_invoker=true) as
 SELECT user_id,
    date,
    version_id,
    deleted_at,
    "left"(public.entry_text(regexp_replace("left"(content, 8192), '<[^>]*$'::text, ''::text)), 200) AS excerpt
   FROM ( SELECT DISTINCT ON (version.user_id, version.date) version.user_id,
            version.date,
            version.id AS version_id,
            version.kept_at AS deleted_at,
            version.content
           FROM public.entry_versions version
          WHERE ((version.replaced_by = 'deletion'::text) AND (NOT (EXISTS ( SELECT
                   FROM public.entries
                  WHERE ((entries.user_id = version.user_id) AND (entries.date = version.date) AND (entries.content_text <> ''::text))))))
          ORDER BY version.user_id, version.date, version.kept_at DESC) deleted;
create view public.entry_dates with (security_barrier=true) as
 SELECT user_id,
    date
   FROM public.entries
  WHERE (user_id = ( SELECT auth.uid() AS uid));
create view public.kept_reviews with (security_invoker=true) as
 SELECT user_id,
    id,
    period,
    period_from,
    period_to,
    COALESCE(entry_count, 0) AS entry_count,
    text,
    created_at,
    public.have_logs_changed(period_from, period_to, logs_fingerprint, created_at) AS is_changed
   FROM public.reviews;

CREATE INDEX access_tokens_expired ON public.access_tokens USING btree (expires_at);
CREATE INDEX analyses_by_input ON public.analyses USING btree (user_id, kind, input_hash, created_at DESC);
CREATE INDEX analyses_of_day ON public.analyses USING btree (user_id, date, created_at DESC) WHERE (date IS NOT NULL);
CREATE INDEX analyses_of_period ON public.analyses USING btree (user_id, period_to) WHERE (kind = 'trend'::text);
CREATE INDEX analysis_runs_by_day ON public.analysis_runs USING btree (counted_on);
CREATE INDEX appended_items_by_age ON public.appended_items USING btree (created_at);
CREATE INDEX connect_requests_expired ON public.connect_requests USING btree (expires_at);
CREATE INDEX connect_requests_of_user ON public.connect_requests USING btree (approved_by) WHERE (approved_by IS NOT NULL);
CREATE INDEX document_links_by_document ON public.document_links USING btree (user_id, document_id);
CREATE INDEX document_links_by_expiry ON public.document_links USING btree (expires_at);
CREATE INDEX document_links_by_review ON public.document_links USING btree (user_id, review_id);
CREATE INDEX entry_versions_by_age ON public.entry_versions USING btree (kept_at);
CREATE INDEX import_days_by_age ON public.import_days USING btree (written_at);
CREATE INDEX mail_tokens_expires_at ON public.mail_tokens USING btree (expires_at);
CREATE INDEX payment_events_bodies ON public.payment_events USING btree (received_at) WHERE (raw <> ''::text);
CREATE INDEX payment_events_waiting ON public.payment_events USING btree (received_at) WHERE (processed_at IS NULL);
CREATE INDEX payments_due ON public.payments USING btree (due_at) WHERE (due_at IS NOT NULL);
CREATE INDEX payments_mail_due ON public.payments USING btree (mail_due_at) WHERE (mail_due_at IS NOT NULL);
CREATE INDEX payments_of_user ON public.payments USING btree (user_id, created_at DESC);
CREATE UNIQUE INDEX plan_changes_ended_once ON public.plan_changes USING btree (user_id, payment_id) WHERE (reason = ANY (ARRAY['refund'::text, 'reversal'::text]));
CREATE UNIQUE INDEX plan_changes_granted_once ON public.plan_changes USING btree (user_id, payment_id) WHERE (reason = 'payment'::text);
CREATE INDEX profiles_paid_until ON public.profiles USING btree (access_valid_until) WHERE (subscription_plan = 'premium'::text);
CREATE INDEX push_subscriptions_by_session ON public.push_subscriptions USING btree (session_id);
CREATE INDEX reminder_schedule_due ON public.reminder_schedule USING btree (due_at);
CREATE INDEX reviews_newest_first ON public.reviews USING btree (user_id, created_at DESC);
CREATE INDEX slack_links_of_user ON public.slack_links USING btree (user_id);

CREATE OR REPLACE FUNCTION public.allow_only_erasure()
 RETURNS trigger
 LANGUAGE plpgsql
 SET search_path TO ''
AS $function$
declare
  erased uuid := public.erased_user(tg_relid);
  is_refused boolean := erased is null;
begin
  if not is_refused and tg_level = 'ROW' then
    is_refused := old.user_id is distinct from erased
      or to_jsonb(new) - 'user_id' is distinct from to_jsonb(old) - 'user_id';
  end if;
  if is_refused then
    raise exception 'rows of % are never changed', tg_table_name using errcode = 'restrict_violation';
  end if;
  if tg_level = 'STATEMENT' then
    return null;
  end if;
  return new;
end
$function$;

CREATE OR REPLACE FUNCTION public.begin_entry()
 RETURNS trigger
 LANGUAGE plpgsql
 SET search_path TO ''
AS $function$
begin
  if exists (
    select from public.entry_versions
     where user_id = new.user_id and date = new.date and entry_id = new.id and replaced_by = 'deletion'
  ) then
    -- Clients read the day after this code and insert with another id.
    raise exception 'a log with this id was deleted' using errcode = 'unique_violation';
  end if;
  if (new.updated_at, new.ai_feedback, new.hustle_score, new.ai_analyzed_at)
       is distinct from (now(), null::text, null::integer, null::timestamptz)
     and not public.is_server(tg_relid) then
    new.updated_at := now();
    new.ai_feedback := null;
    new.hustle_score := null;
    new.ai_analyzed_at := null;
  end if;
  new.content_text := public.entry_text(new.content);
  return new;
end
$function$;

CREATE OR REPLACE FUNCTION public.can_append()
 RETURNS boolean
 LANGUAGE sql
 STABLE
RETURN COALESCE(('append'::text = ANY (string_to_array(public.token_scopes(), ' '::text))), true);

CREATE OR REPLACE FUNCTION public.drops_most_items(before text, after text)
 RETURNS boolean
 LANGUAGE plpgsql
 IMMUTABLE PARALLEL SAFE STRICT
AS $function$
declare
  items text[];
  later text[];
  lost text[];
  total integer;
  half integer;
begin
  -- As `starts_with`, which decodes both texts.
  if substr(convert_to(after, 'UTF8'), 1, octet_length(before)) = convert_to(before, 'UTF8') then
    return false;
  end if;
  items := string_to_array(before, E'\n');
  later := string_to_array(after, E'\n');
  total := cardinality(items);
  half := (total + 1) / 2;
  if later[:half] = items[:half] or later[cardinality(later) - half + 1:] = items[total - half + 1:] then
    return false;
  end if;
  if cardinality(later) * 2 < total then
    return true;
  end if;
  lost := array(select unnest(items) except all select unnest(later));
  if cardinality(lost) * 2 <= total or cardinality(lost) > 50 then
    return cardinality(lost) * 2 > total;
  end if;
  return (
    with gained as (
      select item from (select unnest(later) except all select unnest(items)) as added (item) limit 100)
    select count(*) * 2 > total
      from (select item, (char_length(item) + 1) / 2 as half_length from unnest(lost) as item) as old
     where not exists (
       select from gained as new
        where starts_with(new.item, left(old.item, old.half_length))
           or right(new.item, old.half_length) = right(old.item, old.half_length)));
end
$function$;

CREATE OR REPLACE FUNCTION public.earliest_current_day(at timestamp with time zone DEFAULT now())
 RETURNS date
 LANGUAGE sql
 STABLE PARALLEL SAFE
RETURN public.earliest_today((at - '03:00:00'::interval));

CREATE OR REPLACE FUNCTION public.earliest_today(at timestamp with time zone DEFAULT now())
 RETURNS date
 LANGUAGE sql
 STABLE PARALLEL SAFE
RETURN (((at AT TIME ZONE 'UTC'::text) - '12:00:00'::interval))::date;

CREATE OR REPLACE FUNCTION public.entry_text(html text)
 RETURNS text
 LANGUAGE plpgsql
 IMMUTABLE PARALLEL SAFE STRICT
AS $function$
declare
  -- Texts are cut and trimmed as bytes, because functions for characters decode them whole.
  -- Adjacent ends of items and paragraphs make one line break.
  pieces text[] := string_to_array(replace(html, '</p></li><li><p>', E'\n'), '<');
  plain text;
  is_regular boolean;
  line_end text;
begin
  if pieces[7:] = '{/p>,/li>,/ol>}' and pieces[3:5] = '{/h2>,ol>,li>}' and starts_with(pieces[6], 'p>')
     and starts_with(html, '<h2 class="date-header">') then
    -- Most logs: a header and one list of plain items.
    plain := convert_from(substr(convert_to(pieces[6], 'UTF8'), 3), 'UTF8');
  else
    pieces := string_to_array(replace(replace(html, '</p></li><li><p>', '</p>'), '</p><p>', '</p>'), '<');
    select coalesce(pieces[1], '') || coalesce(string_agg(
             case when split_part(piece, '>', 1) in
               ('br', '/p', '/h1', '/h2', '/h3', '/li', '/pre', '/blockquote', '/ul', '/ol') then E'\n' else '' end
             || substr(piece, strpos(piece, '>') + 1), ''), ''),
           coalesce(bool_and(strpos(piece, '>') > 0), true)
      into plain, is_regular
      from unnest(pieces[case when starts_with(html, '<h2 class="date-header">') and starts_with(pieces[3], '/h2>') then 3 else 2 end:]) as piece;
    if not is_regular then
      plain := regexp_replace(html, '^<h2 class="date-header">[^<]*</h2>', '');
      foreach line_end in array
        array['<br>', '</p>', '</h1>', '</h2>', '</h3>', '</li>', '</pre>', '</blockquote>', '</ul>', '</ol>']
      loop
        plain := replace(plain, line_end, E'\n');
      end loop;
      plain := regexp_replace(plain, '<[^<>]*>', '', 'g');
    end if;
  end if;
  if strpos(replace(plain, '&amp;', ''), '&') > 0 then
    plain := replace(replace(replace(plain, '&lt;', '<'), '&gt;', '>'), '&quot;', '"');
    plain := replace(replace(plain, '&#39;', ''''), '&nbsp;', ' ');
  end if;
  plain := convert_from(
    btrim(convert_to(replace(replace(plain, '&amp;', '&'), E'\r', E'\n'), 'UTF8'), '\x20090a'), 'UTF8');
  while plain like E'%\n\n%' loop
    plain := replace(plain, E'\n\n', E'\n');
  end loop;
  return plain;
end
$function$;

CREATE OR REPLACE FUNCTION public.erase_payer(payer uuid)
 RETURNS uuid
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO ''
AS $function$
declare
  nobody uuid := gen_random_uuid();
begin
  if exists (select from auth.users where id = payer) then
    raise exception 'the account of this user still exists' using errcode = 'restrict_violation';
  end if;
  perform set_config('hustle_forge.erased_user', payer::text, true);
  update public.payments
     set user_id = nobody, country = null, approval_url = null, debug_id = null, mail_due_at = null
   where user_id = payer;
  update public.plan_changes set user_id = nobody where user_id = payer;
  update public.plan_uses set user_id = nobody where user_id = payer;
  perform set_config('hustle_forge.erased_user', '', true);
  return nobody;
end
$function$;

CREATE OR REPLACE FUNCTION public.erased_user(relation oid)
 RETURNS uuid
 LANGUAGE sql
 STABLE
 SET search_path TO ''
RETURN (SELECT (NULLIF(current_setting('hustle_forge.erased_user'::text, true), ''::text))::uuid AS "nullif" FROM pg_class WHERE ((pg_class.oid = erased_user.relation) AND pg_has_role(CURRENT_USER, pg_class.relowner, 'member'::text)));

CREATE OR REPLACE FUNCTION public.fingerprint_logs(from_day date, to_day date)
 RETURNS text
 LANGUAGE sql
 STABLE
 SET search_path TO ''
RETURN (SELECT md5(COALESCE(string_agg(concat_ws(' '::text, entries.date, entries.id, entries.revision), ','::text ORDER BY entries.date), ''::text)) AS md5 FROM public.entries WHERE ((entries.user_id = (SELECT auth.uid() AS uid)) AND ((entries.date >= fingerprint_logs.from_day) AND (entries.date <= fingerprint_logs.to_day)) AND (entries.content_text <> ''::text)));

CREATE OR REPLACE FUNCTION public.first_free_day()
 RETURNS date
 LANGUAGE sql
 STABLE
RETURN (public.earliest_current_day() - 29);

CREATE OR REPLACE FUNCTION public.follow_entry()
 RETURNS trigger
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO ''
AS $function$
declare
  is_edit constant boolean := tg_op = 'UPDATE' and new.date = old.date and new.content <> old.content
    and new.content_text <> '' and old.content_text <> '';
  day constant date := case when tg_op = 'DELETE' then old.date else new.date end;
  -- Null for an edit. Each expression is prepared again in each transaction.
  is_deleted boolean;
  is_moved boolean;
  is_emptied boolean;
  last_kept timestamptz;
  is_restored boolean;
  equal_bytes integer;
  change text;
  replaced text;
  report text;
  withdrawn jsonb;
  has_withdrawn boolean;
begin
  <<version>>
  begin
    if not is_edit then
      is_deleted := tg_op = 'DELETE';
      is_moved := tg_op = 'UPDATE' and new.date <> old.date;
      is_emptied := tg_op = 'UPDATE' and new.content_text = '' and old.content_text <> '';
      has_withdrawn := tg_op = 'INSERT' or (tg_op = 'UPDATE' and old.content_text = '');
      exit version when tg_op = 'INSERT' or (not is_deleted and not is_moved and new.content = old.content);
      if is_moved then
        delete from public.analyses
         where user_id = old.user_id and kind = 'trend' and old.date between period_from and period_to
           and not day between period_from and period_to;
        update public.entry_versions set date = day
         where user_id = old.user_id and date = old.date and entry_id = old.id;
        -- The move changed no more than the header.
        exit version when new.content_text = old.content_text;
      end if;
      exit version when old.content_text = '';
    end if;

    if is_deleted or is_emptied then
      -- The deletion of an account deletes its logs after its user.
      exit version when is_deleted and not exists (select from auth.users where id = old.user_id);
      change := 'deletion';
      with of_day as (
        delete from public.analyses where user_id = old.user_id and date = old.date returning *
      ), of_periods as (
        delete from public.analyses
         where user_id = old.user_id and kind = 'trend' and old.date between period_from and period_to returning *
      )
      select jsonb_build_object(
          'entry', jsonb_build_object('feedback', old.ai_feedback, 'score', old.hustle_score,
            'analyzedAt', old.ai_analyzed_at, 'upToDate', old.ai_analyzed_at >= old.updated_at),
          'analyses', coalesce(jsonb_agg(to_jsonb(analysis)), '[]'))
        into withdrawn
        from (select * from of_day union all select * from of_periods) as analysis;
    else
      -- Versions that were kept before 0037 have the header. The lengths tell most versions apart without their texts.
      select max(kept_at), bool_or(feedback is not null),
             bool_or(octet_length(content) in (octet_length(new.content),
                 octet_length(new.content) - octet_length(split_part(new.content, '</h2>', 1)) - 5)
               and (content = public.without_date_header(new.content) or content = new.content))
        into last_kept, has_withdrawn, is_restored
        from public.entry_versions where user_id = old.user_id and date = day;
      -- Zero for one item, else the bytes of all but the last.
      equal_bytes := octet_length(old.content_text) - octet_length(split_part(old.content_text, E'\n', -1));
      if is_restored then
        change := 'restore';
      elsif not (equal_bytes > 0 and substr(convert_to(new.content_text, 'UTF8'), 1, equal_bytes)
                   = substr(convert_to(old.content_text, 'UTF8'), 1, equal_bytes))
            and public.drops_most_items(old.content_text, new.content_text) then
        change := 'drop';
      elsif current_setting('hustle_forge.keeps_version', true) = 'on'
            or greatest(last_kept, old.created_at) <= now() - interval '10 minutes' then
        change := 'edit';
      end if;
      exit version when change is null;
    end if;

    -- A text that was brought back and replaced again is one version, not two.
    replaced := public.without_date_header(old.content);
    delete from public.entry_versions
     where user_id = old.user_id and date = day and (content = replaced or content = old.content);
    insert into public.entry_versions (user_id, date, entry_id, content, written_at, replaced_by, feedback)
      values (old.user_id, day, old.id, replaced, old.updated_at, change, withdrawn);
    perform public.thin_versions(old.user_id, day);
  end;

  if is_moved then
    update public.analyses set date = day where user_id = old.user_id and date = old.date;
    update public.entry_words set date = day where user_id = old.user_id and date = old.date;
  end if;

  if has_withdrawn and (is_edit or (not is_deleted and new.content_text <> '')) then
    perform public.return_feedback(new.user_id, day, new.content_text);
  end if;

  -- The server reads the collected days with the last statement of the transaction.
  if is_edit and new.user_id = old.user_id and current_setting('hustle_forge.collects_changes', true) = 'on' then
    report := set_config('hustle_forge.changes',
      concat_ws(E'\n', nullif(current_setting('hustle_forge.changes', true), ''),
        concat_ws(' ', new.user_id, to_char(day, 'YYYY-MM-DD'), new.id, new.revision)), true);
    return null;
  end if;
  foreach report in array array_remove(array[
      case when tg_op = 'DELETE' or (tg_op = 'UPDATE' and (new.date <> old.date or new.user_id <> old.user_id))
        then concat_ws(' ', old.user_id, to_char(old.date, 'YYYY-MM-DD'), old.id) end,
      case when tg_op = 'INSERT' or (tg_op = 'UPDATE' and (
          new.revision <> old.revision or new.id <> old.id or new.date <> old.date or new.user_id <> old.user_id))
        then concat_ws(' ', new.user_id, to_char(day, 'YYYY-MM-DD'), new.id, new.revision) end], null)
  loop
    if current_setting('hustle_forge.collects_changes', true) = 'on' then
      report := set_config('hustle_forge.changes',
        concat_ws(E'\n', nullif(current_setting('hustle_forge.changes', true), ''), report), true);
    else
      perform public.report_entry_change(report);
    end if;
  end loop;
  return null;
end
$function$;

CREATE OR REPLACE FUNCTION public.forget_review()
 RETURNS trigger
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO ''
AS $function$
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
$function$;

CREATE OR REPLACE FUNCTION public.have_logs_changed(from_day date, to_day date, fingerprint text, since timestamp with time zone)
 RETURNS boolean
 LANGUAGE sql
 STABLE SECURITY DEFINER
 SET search_path TO ''
RETURN CASE WHEN (fingerprint IS NOT NULL) THEN (fingerprint <> public.fingerprint_logs(from_day, to_day)) ELSE (EXISTS (SELECT FROM public.entries WHERE ((entries.user_id = (SELECT auth.uid() AS uid)) AND ((entries.date >= have_logs_changed.from_day) AND (entries.date <= have_logs_changed.to_day)) AND (entries.updated_at > have_logs_changed.since)))) END;

CREATE OR REPLACE FUNCTION public.is_premium()
 RETURNS boolean
 LANGUAGE sql
 STABLE
RETURN (EXISTS (SELECT FROM public.profiles WHERE ((profiles.id = (SELECT auth.uid() AS uid)) AND (profiles.subscription_plan = 'premium'::text) AND ((profiles.access_valid_until IS NULL) OR (profiles.access_valid_until >= public.earliest_today())))));

CREATE OR REPLACE FUNCTION public.is_server(relation oid)
 RETURNS boolean
 LANGUAGE sql
 STABLE
 SET search_path TO ''
RETURN ((CURRENT_USER = 'service_role'::name) OR pg_has_role(CURRENT_USER, (SELECT pg_class.relowner FROM pg_class WHERE (pg_class.oid = is_server.relation)), 'member'::text));

CREATE OR REPLACE FUNCTION public.keep_payment_facts()
 RETURNS trigger
 LANGUAGE plpgsql
 SET search_path TO ''
AS $function$
begin
  if old.user_id = public.erased_user(tg_relid) then
    if to_jsonb(new) - array['user_id', 'country', 'approval_url', 'debug_id', 'mail_due_at']
         is distinct from to_jsonb(old) - array['user_id', 'country', 'approval_url', 'debug_id', 'mail_due_at'] then
      raise exception 'erasing a payer changes no facts of a payment' using errcode = 'restrict_violation';
    end if;
    return new;
  end if;
  if (new.id, new.user_id, new.provider, new.amount_minor, new.currency, new.created_at)
       is distinct from (old.id, old.user_id, old.provider, old.amount_minor, old.currency, old.created_at)
     or new.country is distinct from old.country
     or (old.order_id is not null and new.order_id is distinct from old.order_id)
     or (old.capture_id is not null and new.capture_id is distinct from old.capture_id) then
    raise exception 'the facts of a payment are never changed' using errcode = 'restrict_violation';
  end if;
  -- Set together with the status, so that no crash comes between them. A refusal is mailed only to a buyer who was asked
  -- to wait for it; any other buyer sees it on the screen.
  if new.status is distinct from old.status
     and (new.status in ('completed', 'refunded', 'reversed')
          or (new.status = 'declined' and exists (
                select from public.payment_changes where payment_id = new.id and status = 'pending'))) then
    new.mail_due_at := now();
  end if;
  new.updated_at := now();
  return new;
end
$function$;

CREATE OR REPLACE FUNCTION public.latest_today(at timestamp with time zone DEFAULT now())
 RETURNS date
 LANGUAGE sql
 STABLE PARALLEL SAFE
RETURN (((at AT TIME ZONE 'UTC'::text) + '14:00:00'::interval))::date;

CREATE OR REPLACE FUNCTION public.limit_document_links()
 RETURNS trigger
 LANGUAGE plpgsql
 SET search_path TO ''
AS $function$
begin
  perform pg_catalog.pg_advisory_xact_lock(pg_catalog.hashtextextended('document_links ' || new.user_id, 0));
  if (select count(*) from public.document_links where user_id = new.user_id and expires_at > now()) >= 20 then
    raise exception 'A user can have 20 links at most. End one first' using errcode = 'program_limit_exceeded';
  end if;
  return new;
end
$function$;

CREATE OR REPLACE FUNCTION public.limit_push_subscriptions()
 RETURNS trigger
 LANGUAGE plpgsql
 SET search_path TO ''
AS $function$
begin
  perform pg_catalog.pg_advisory_xact_lock(pg_catalog.hashtextextended('push_subscriptions ' || new.user_id, 0));
  if (select count(*) from public.push_subscriptions where user_id = new.user_id and endpoint <> new.endpoint) >= 10 then
    raise exception 'A user can have 10 devices at most. Remove one first' using errcode = 'program_limit_exceeded';
  end if;
  return new;
end
$function$;

CREATE OR REPLACE FUNCTION public.make_profile()
 RETURNS trigger
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO ''
AS $function$
begin
  insert into public.profiles (id) values (new.id);
  return new;
end
$function$;

CREATE OR REPLACE FUNCTION public.merge_time_off()
 RETURNS trigger
 LANGUAGE plpgsql
 SET search_path TO ''
AS $function$
declare
  met record;
begin
  if new.first_day > new.last_day or new.last_day - new.first_day >= 3653 then
    -- The constraints refuse it.
    return new;
  end if;
  perform pg_catalog.pg_advisory_xact_lock(pg_catalog.hashtextextended('time_off ' || new.user_id, 0));
  with taken as (
    delete from public.time_off
     where user_id = new.user_id and first_day <= new.last_day + 1 and last_day >= new.first_day - 1
    returning first_day, last_day
  )
  select min(first_day) as first_day, max(last_day) as last_day into met from taken;
  new.first_day := least(new.first_day, met.first_day);
  new.last_day := greatest(new.last_day, met.last_day);
  -- Threat: an account that stores rows without end, one request each.
  if (select count(*) from public.time_off where user_id = new.user_id) >= 500 then
    raise exception 'an account has at most 500 ranges of time off' using errcode = 'check_violation';
  end if;
  return new;
end
$function$;

CREATE OR REPLACE FUNCTION public.newest_review()
 RETURNS uuid
 LANGUAGE sql
 STABLE SECURITY DEFINER
 SET search_path TO ''
RETURN (SELECT reviews.id FROM public.reviews WHERE (reviews.user_id = (SELECT auth.uid() AS uid)) ORDER BY reviews.created_at DESC, reviews.id LIMIT 1);

CREATE OR REPLACE FUNCTION public.note_payment_status()
 RETURNS trigger
 LANGUAGE plpgsql
 SET search_path TO ''
AS $function$
begin
  insert into public.payment_changes (payment_id, status) values (new.id, new.status);
  return null;
end
$function$;

CREATE OR REPLACE FUNCTION public.plan_reminders_again()
 RETURNS trigger
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO ''
AS $function$
declare
  reminds constant boolean := new.remind_at is not null and (new.remind_by_mail or new.remind_by_push);
begin
  if tg_op = 'UPDATE' and (old.time_zone, old.workdays, old.remind_at, old.remind_by_mail, old.remind_by_push, old.digest, old.day_ends_at)
       is not distinct from (new.time_zone, new.workdays, new.remind_at, new.remind_by_mail, new.remind_by_push, new.digest, new.day_ends_at) then
    return null;
  end if;
  insert into public.reminder_schedule as planned (user_id, kind, due_at, on_since)
  select new.user_id, kind, case when is_on then now() else 'infinity' end, now()
    from (values ('reminder', reminds), ('digest', new.digest)) as choices (kind, is_on)
  on conflict (user_id, kind) do update
    set due_at = excluded.due_at, day = null, leased_until = null, lease = null,
        on_since = case when planned.due_at = 'infinity' then excluded.on_since else planned.on_since end;
  return null;
end
$function$;

CREATE OR REPLACE FUNCTION public.refuse_change_of_ledger()
 RETURNS trigger
 LANGUAGE plpgsql
 SET search_path TO ''
AS $function$
begin
  raise exception 'rows of % are never changed', tg_table_name using errcode = 'restrict_violation';
end
$function$;

CREATE OR REPLACE FUNCTION public.replace_date_header(content text, to_date date)
 RETURNS text
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE STRICT
 SET search_path TO ''
RETURN regexp_replace(content, '^<h2 class="date-header">[^<]*</h2>'::text, (('<h2 class="date-header">'::text || to_char((to_date)::timestamp with time zone, 'FMDay - FMMonth FMDD, FMYYYY'::text)) || '</h2>'::text));

CREATE OR REPLACE FUNCTION public.report_entry_change(report text)
 RETURNS void
 LANGUAGE plpgsql
AS $function$
begin
  if pg_catalog.current_setting('application_name') = 'hustle-forge' then
    raise info using errcode = 'HF001', message = report;
  else
    perform pg_catalog.pg_notify('entry_changes', report);
  end if;
end
$function$;

CREATE OR REPLACE FUNCTION public.return_feedback(of_user uuid, of_date date, words text)
 RETURNS void
 LANGUAGE plpgsql
 SET search_path TO ''
AS $function$
declare
  version record;
  analysis jsonb;
begin
  for version in
    select id, feedback, public.entry_text(content) as words from public.entry_versions
     where user_id = of_user and date = of_date and feedback is not null
     order by kept_at desc
  loop
    continue when exists (
      select unnest(string_to_array(version.words, E'\n')) except select unnest(string_to_array(return_feedback.words, E'\n')));
    update public.entry_versions set feedback = null where user_id = of_user and date = of_date and id = version.id;

    for analysis in select jsonb_array_elements(version.feedback -> 'analyses') loop
      if analysis ->> 'kind' = 'trend' then
        update public.entry_versions
           set feedback = jsonb_set(feedback, '{analyses}', feedback -> 'analyses' || jsonb_build_array(analysis))
         where user_id = of_user and (date, id) = (
           select date, id from public.entry_versions
            where user_id = of_user and feedback is not null
              and date between (analysis ->> 'period_from')::date and (analysis ->> 'period_to')::date
              and kept_at > (analysis ->> 'created_at')::timestamptz
            order by kept_at limit 1);
        continue when found;
      else
        -- The version may have moved with its log.
        analysis := jsonb_set(analysis, '{date}', to_jsonb(of_date));
      end if;
      begin
        insert into public.analyses select (jsonb_populate_record(null::public.analyses, analysis)).*;
      exception when integrity_constraint_violation then
        -- A row of an earlier version of the table. The log is saved without it.
      end;
    end loop;

    -- Feedback on the text that stood there meanwhile is newer.
    update public.entries
       set ai_feedback = version.feedback #>> '{entry,feedback}',
           hustle_score = (version.feedback #>> '{entry,score}')::integer,
           ai_analyzed_at = case
             when (version.feedback #>> '{entry,upToDate}')::boolean and version.words = return_feedback.words then updated_at
             else (version.feedback #>> '{entry,analyzedAt}')::timestamptz end
     where user_id = of_user and date = of_date and ai_feedback is null and hustle_score is null;
  end loop;
end
$function$;

CREATE OR REPLACE FUNCTION public.revise_document()
 RETURNS trigger
 LANGUAGE plpgsql
 SET search_path TO ''
AS $function$
begin
  if tg_op = 'UPDATE' then
    new.revision := old.revision + 1;
  else
    perform pg_catalog.pg_advisory_xact_lock(pg_catalog.hashtextextended('documents ' || new.user_id, 0));
    -- Threat: a client fills the disk with documents.
    if (select count(*) from public.documents where user_id = new.user_id) >= 100 then
      raise exception 'A user can have 100 documents at most. Delete one first' using errcode = 'program_limit_exceeded';
    end if;
  end if;
  new.updated_at := now();
  return new;
end
$function$;

CREATE OR REPLACE FUNCTION public.revise_entry()
 RETURNS trigger
 LANGUAGE plpgsql
 SET search_path TO ''
AS $function$
begin
  if (new.date, new.updated_at, new.ai_feedback, new.hustle_score, new.ai_analyzed_at)
       is distinct from (old.date, old.updated_at, old.ai_feedback, old.hustle_score, old.ai_analyzed_at) then
    if not public.is_server(tg_relid) then
      new.updated_at := old.updated_at;
      new.ai_feedback := old.ai_feedback;
      new.hustle_score := old.hustle_score;
      new.ai_analyzed_at := old.ai_analyzed_at;
    end if;
    if new.date <> old.date then
      new.content := public.replace_date_header(new.content, new.date);
    end if;
  end if;
  if new.content = old.content and new.date = old.date then
    new.revision := old.revision;
    return new;
  end if;
  new.content_text := public.entry_text(new.content);
  new.revision := old.revision + 1;
  new.updated_at := now();
  -- An emptied day loses its feedback: `follow_entry` deletes its analyses.
  if new.content_text = '' and old.content_text <> '' then
    new.ai_feedback := null;
    new.hustle_score := null;
    new.ai_analyzed_at := null;
  end if;
  return new;
end
$function$;

CREATE OR REPLACE FUNCTION public.thin_analyses()
 RETURNS trigger
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO ''
AS $function$
begin
  if new.kind = 'feedback' then
    delete from public.analyses
     where user_id = new.user_id and id in (
       select id from public.analyses
        where user_id = new.user_id and kind = 'feedback' and date = new.date
        order by created_at desc, id offset 20);
  else
    delete from public.analyses
     where user_id = new.user_id and id in (
       select id from public.analyses
        where user_id = new.user_id and kind = 'trend' and period_to = new.period_to and period_from = new.period_from
        order by created_at desc, id offset 20);
  end if;
  return null;
end
$function$;

CREATE OR REPLACE FUNCTION public.thin_versions(of_user uuid, of_date date)
 RETURNS void
 LANGUAGE sql
 SET search_path TO ''
BEGIN ATOMIC
 DELETE FROM public.entry_versions
   WHERE ((entry_versions.user_id = thin_versions.of_user) AND (entry_versions.date = thin_versions.of_date) AND (entry_versions.id IN ( SELECT versions.id
            FROM ( SELECT entry_versions_1.id,
                     row_number() OVER newest_first AS place,
                     (entry_versions_1.kept_at - lead(entry_versions_1.kept_at) OVER newest_first) AS gap
                    FROM public.entry_versions entry_versions_1
                   WHERE ((entry_versions_1.user_id = thin_versions.of_user) AND (entry_versions_1.date = thin_versions.of_date))
                   WINDOW newest_first AS (ORDER BY entry_versions_1.kept_at DESC, entry_versions_1.id)) versions
           WHERE (versions.place > 10)
           ORDER BY versions.gap
          LIMIT ( SELECT GREATEST((count(*) - 20), (0)::bigint) AS "greatest"
                    FROM public.entry_versions entry_versions_1
                   WHERE ((entry_versions_1.user_id = thin_versions.of_user) AND (entry_versions_1.date = thin_versions.of_date))))));
END;

CREATE OR REPLACE FUNCTION public.token_scopes()
 RETURNS text
 LANGUAGE sql
 STABLE
RETURN ((NULLIF(current_setting('request.jwt.claims'::text, true), ''::text))::json ->> 'scopes'::text);

CREATE OR REPLACE FUNCTION public.touch_profile()
 RETURNS trigger
 LANGUAGE plpgsql
 SET search_path TO ''
AS $function$
begin
  new.updated_at := now();
  return new;
end
$function$;

CREATE OR REPLACE FUNCTION public.without_date_header(content text)
 RETURNS text
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE STRICT
RETURN CASE WHEN starts_with(content, '<h2 class="date-header">'::text) THEN substr(content, (strpos(content, '</h2>'::text) + 5)) ELSE content END;

CREATE TRIGGER never_changed BEFORE UPDATE OF id, kind, period_from, period_to, input_hash, provider, model, model_version, prompt_version, finish_reason, input_tokens, output_tokens, duration_ms, score, text, cited, cited_refs, missing_fact, created_at ON public.analyses FOR EACH STATEMENT EXECUTE FUNCTION public.refuse_change_of_ledger();
CREATE TRIGGER thin_analyses AFTER INSERT ON public.analyses FOR EACH ROW EXECUTE FUNCTION public.thin_analyses();
CREATE TRIGGER limit_document_links BEFORE INSERT ON public.document_links FOR EACH ROW EXECUTE FUNCTION public.limit_document_links();
CREATE TRIGGER revise_document BEFORE INSERT OR UPDATE ON public.documents FOR EACH ROW EXECUTE FUNCTION public.revise_document();
CREATE TRIGGER "Follow_entry" AFTER INSERT OR DELETE OR UPDATE ON public.entries FOR EACH ROW EXECUTE FUNCTION public.follow_entry();
CREATE TRIGGER begin_entry BEFORE INSERT ON public.entries FOR EACH ROW EXECUTE FUNCTION public.begin_entry();
CREATE TRIGGER revise_entry BEFORE UPDATE ON public.entries FOR EACH ROW EXECUTE FUNCTION public.revise_entry();
CREATE TRIGGER only_added_to BEFORE DELETE OR UPDATE OR TRUNCATE ON public.payment_changes FOR EACH STATEMENT EXECUTE FUNCTION public.refuse_change_of_ledger();
CREATE TRIGGER only_added_to BEFORE DELETE OR UPDATE OR TRUNCATE ON public.payment_ledger FOR EACH STATEMENT EXECUTE FUNCTION public.refuse_change_of_ledger();
CREATE TRIGGER keep_payment_facts BEFORE UPDATE ON public.payments FOR EACH ROW EXECUTE FUNCTION public.keep_payment_facts();
CREATE TRIGGER never_deleted BEFORE DELETE OR TRUNCATE ON public.payments FOR EACH STATEMENT EXECUTE FUNCTION public.refuse_change_of_ledger();
CREATE TRIGGER note_first_status AFTER INSERT ON public.payments FOR EACH ROW EXECUTE FUNCTION public.note_payment_status();
CREATE TRIGGER note_status AFTER UPDATE ON public.payments FOR EACH ROW WHEN ((old.status IS DISTINCT FROM new.status)) EXECUTE FUNCTION public.note_payment_status();
CREATE TRIGGER only_added_to BEFORE DELETE OR TRUNCATE ON public.plan_changes FOR EACH STATEMENT EXECUTE FUNCTION public.refuse_change_of_ledger();
CREATE TRIGGER only_user_is_erased BEFORE UPDATE ON public.plan_changes FOR EACH ROW EXECUTE FUNCTION public.allow_only_erasure();
CREATE TRIGGER updated_by_erasure_alone BEFORE UPDATE ON public.plan_changes FOR EACH STATEMENT EXECUTE FUNCTION public.allow_only_erasure();
CREATE TRIGGER only_added_to BEFORE DELETE OR TRUNCATE ON public.plan_uses FOR EACH STATEMENT EXECUTE FUNCTION public.refuse_change_of_ledger();
CREATE TRIGGER only_user_is_erased BEFORE UPDATE ON public.plan_uses FOR EACH ROW EXECUTE FUNCTION public.allow_only_erasure();
CREATE TRIGGER updated_by_erasure_alone BEFORE UPDATE ON public.plan_uses FOR EACH STATEMENT EXECUTE FUNCTION public.allow_only_erasure();
CREATE TRIGGER plan_reminders_again AFTER INSERT OR UPDATE ON public.preferences FOR EACH ROW EXECUTE FUNCTION public.plan_reminders_again();
CREATE TRIGGER touch_profile BEFORE UPDATE ON public.profiles FOR EACH ROW WHEN ((old.* IS DISTINCT FROM new.*)) EXECUTE FUNCTION public.touch_profile();
CREATE TRIGGER limit_push_subscriptions BEFORE INSERT ON public.push_subscriptions FOR EACH ROW EXECUTE FUNCTION public.limit_push_subscriptions();
CREATE TRIGGER forget_review AFTER DELETE ON public.reviews FOR EACH ROW EXECUTE FUNCTION public.forget_review();
CREATE TRIGGER merge_time_off BEFORE INSERT ON public.time_off FOR EACH ROW EXECUTE FUNCTION public.merge_time_off();

alter table public.access_tokens enable row level security, force row level security;
alter table public.analyses enable row level security, force row level security;
alter table public.analysis_runs enable row level security, force row level security;
alter table public.appended_items enable row level security, force row level security;
alter table public.coach_reader enable row level security, force row level security;
alter table public.connect_requests enable row level security, force row level security;
alter table public.document_links enable row level security, force row level security;
alter table public.documents enable row level security, force row level security;
alter table public.entries enable row level security, force row level security;
alter table public.entry_versions enable row level security, force row level security;
alter table public.entry_words enable row level security, force row level security;
alter table public.import_days enable row level security, force row level security;
alter table public.mail_tokens enable row level security, force row level security;
alter table public.payment_changes enable row level security, force row level security;
alter table public.payment_events enable row level security, force row level security;
alter table public.payment_ledger enable row level security, force row level security;
alter table public.payments enable row level security, force row level security;
alter table public.plan_changes enable row level security, force row level security;
alter table public.plan_reminders enable row level security, force row level security;
alter table public.plan_uses enable row level security, force row level security;
alter table public.preferences enable row level security, force row level security;
alter table public.profiles enable row level security, force row level security;
alter table public.push_subscriptions enable row level security, force row level security;
alter table public.reminder_schedule enable row level security, force row level security;
alter table public.reviews enable row level security, force row level security;
alter table public.slack_links enable row level security, force row level security;
alter table public.time_off enable row level security, force row level security;

create policy owner_move_analyses on public.analyses for update to hustle_forge
  using (true)
  with check (true);

create policy trigger_delete_analyses on public.analyses for delete to hustle_forge
  using (true);

create policy trigger_return_analyses on public.analyses for insert to hustle_forge
  with check (true);

create policy trigger_select_analyses on public.analyses for select to hustle_forge
  using (true);

create policy user_select_analyses on public.analyses for select to authenticated
  using (((user_id = ( SELECT auth.uid() AS uid)) AND ( SELECT public.is_premium() AS is_premium)));

create policy user_insert_appended_items on public.appended_items for insert to authenticated
  with check (((user_id = ( SELECT auth.uid() AS uid)) AND ( SELECT public.can_append() AS can_append)));

create policy user_select_appended_items on public.appended_items for select to authenticated
  using ((user_id = ( SELECT auth.uid() AS uid)));

create policy reject_delete_by_token on public.document_links as restrictive for delete to authenticated
  using ((( SELECT public.token_scopes() AS token_scopes) IS NULL));

create policy reject_insert_by_token on public.document_links as restrictive for insert to authenticated
  with check ((( SELECT public.token_scopes() AS token_scopes) IS NULL));

create policy user_delete_document_links on public.document_links for delete to authenticated
  using ((user_id = ( SELECT auth.uid() AS uid)));

create policy user_insert_document_links on public.document_links for insert to authenticated
  with check (((user_id = ( SELECT auth.uid() AS uid)) AND ( SELECT public.is_premium() AS is_premium)));

create policy user_select_document_links on public.document_links for select to authenticated
  using ((user_id = ( SELECT auth.uid() AS uid)));

create policy reject_delete_by_token on public.documents as restrictive for delete to authenticated
  using ((( SELECT public.token_scopes() AS token_scopes) IS NULL));

create policy reject_insert_by_token on public.documents as restrictive for insert to authenticated
  with check ((( SELECT public.token_scopes() AS token_scopes) IS NULL));

create policy reject_update_by_token on public.documents as restrictive for update to authenticated
  using ((( SELECT public.token_scopes() AS token_scopes) IS NULL))
  with check ((( SELECT public.token_scopes() AS token_scopes) IS NULL));

create policy user_delete_documents on public.documents for delete to authenticated
  using ((user_id = ( SELECT auth.uid() AS uid)));

create policy user_insert_documents on public.documents for insert to authenticated
  with check (((user_id = ( SELECT auth.uid() AS uid)) AND ( SELECT public.is_premium() AS is_premium)));

create policy user_select_documents on public.documents for select to authenticated
  using ((user_id = ( SELECT auth.uid() AS uid)));

create policy user_update_documents on public.documents for update to authenticated
  using (((user_id = ( SELECT auth.uid() AS uid)) AND ( SELECT public.is_premium() AS is_premium)))
  with check (((user_id = ( SELECT auth.uid() AS uid)) AND ( SELECT public.is_premium() AS is_premium)));

create policy owner_select_entries on public.entries for select to hustle_forge
  using ((user_id = ( SELECT auth.uid() AS uid)));

create policy reject_delete_by_token on public.entries as restrictive for delete to authenticated
  using ((( SELECT public.token_scopes() AS token_scopes) IS NULL));

create policy reject_insert_of_future_day on public.entries as restrictive for insert to authenticated
  with check ((date <= ( SELECT public.latest_today() AS latest_today)));

create policy reject_insert_without_append on public.entries as restrictive for insert to authenticated
  with check (( SELECT public.can_append() AS can_append));

create policy reject_update_to_future_day on public.entries as restrictive for update to authenticated
  using (true)
  with check ((date <= public.latest_today()));

create policy reject_update_without_append on public.entries as restrictive for update to authenticated
  using (( SELECT public.can_append() AS can_append))
  with check (true);

create policy trigger_select_entries on public.entries for select to hustle_forge
  using ((pg_trigger_depth() > 0));

create policy trigger_update_entries on public.entries for update to hustle_forge
  using ((pg_trigger_depth() > 0))
  with check (true);

create policy user_delete_entries on public.entries for delete to authenticated
  using (((user_id = ( SELECT auth.uid() AS uid)) AND ((date >= ( SELECT public.first_free_day() AS first_free_day)) OR ( SELECT public.is_premium() AS is_premium))));

create policy user_insert_entries on public.entries for insert to authenticated
  with check (((user_id = ( SELECT auth.uid() AS uid)) AND ((date >= ( SELECT public.first_free_day() AS first_free_day)) OR ( SELECT public.is_premium() AS is_premium))));

create policy user_select_entries on public.entries for select to authenticated
  using (((user_id = ( SELECT auth.uid() AS uid)) AND ((date >= ( SELECT public.first_free_day() AS first_free_day)) OR ( SELECT public.is_premium() AS is_premium))));

create policy user_update_entries on public.entries for update to authenticated
  using (((user_id = ( SELECT auth.uid() AS uid)) AND ((date >= ( SELECT public.first_free_day() AS first_free_day)) OR ( SELECT public.is_premium() AS is_premium))))
  with check (((user_id = ( SELECT auth.uid() AS uid)) AND ((date >= ( SELECT public.first_free_day() AS first_free_day)) OR ( SELECT public.is_premium() AS is_premium))));

create policy trigger_keeps_entry_versions on public.entry_versions for all to hustle_forge
  using (true)
  with check (true);

create policy user_select_entry_versions on public.entry_versions for select to authenticated
  using (((user_id = ( SELECT auth.uid() AS uid)) AND ((date >= ( SELECT public.first_free_day() AS first_free_day)) OR ( SELECT public.is_premium() AS is_premium))));

create policy owner_move_entry_words on public.entry_words for update to hustle_forge
  using (true)
  with check (true);

create policy owner_select_entry_words on public.entry_words for select to hustle_forge
  using (true);

create policy user_select_entry_words on public.entry_words for select to authenticated
  using (((user_id = ( SELECT auth.uid() AS uid)) AND ((date >= ( SELECT public.first_free_day() AS first_free_day)) OR ( SELECT public.is_premium() AS is_premium))));

create policy owner_erase_user_of_payments on public.payments for update to hustle_forge
  using ((user_id = ( SELECT public.erased_user(('public.payments'::regclass)::oid) AS erased_user)))
  with check (true);

create policy owner_select_payments on public.payments for select to hustle_forge
  using ((( SELECT public.erased_user(('public.payments'::regclass)::oid) AS erased_user) IS NOT NULL));

create policy user_select_payments on public.payments for select to authenticated
  using ((user_id = ( SELECT auth.uid() AS uid)));

create policy owner_erase_user_of_plan_changes on public.plan_changes for update to hustle_forge
  using ((user_id = ( SELECT public.erased_user(('public.plan_changes'::regclass)::oid) AS erased_user)))
  with check (true);

create policy owner_select_plan_changes on public.plan_changes for select to hustle_forge
  using ((( SELECT public.erased_user(('public.plan_changes'::regclass)::oid) AS erased_user) IS NOT NULL));

create policy user_select_plan_changes on public.plan_changes for select to authenticated
  using ((user_id = ( SELECT auth.uid() AS uid)));

create policy owner_erase_user_of_plan_uses on public.plan_uses for update to hustle_forge
  using ((user_id = ( SELECT public.erased_user(('public.plan_uses'::regclass)::oid) AS erased_user)))
  with check (true);

create policy owner_select_plan_uses on public.plan_uses for select to hustle_forge
  using ((( SELECT public.erased_user(('public.plan_uses'::regclass)::oid) AS erased_user) IS NOT NULL));

create policy user_select_plan_uses on public.plan_uses for select to authenticated
  using ((user_id = ( SELECT auth.uid() AS uid)));

create policy reject_insert_by_token on public.preferences as restrictive for insert to authenticated
  with check ((( SELECT public.token_scopes() AS token_scopes) IS NULL));

create policy reject_update_by_token on public.preferences as restrictive for update to authenticated
  using ((( SELECT public.token_scopes() AS token_scopes) IS NULL))
  with check ((( SELECT public.token_scopes() AS token_scopes) IS NULL));

create policy user_insert_preferences on public.preferences for insert to authenticated
  with check ((user_id = ( SELECT auth.uid() AS uid)));

create policy user_select_preferences on public.preferences for select to authenticated
  using ((user_id = ( SELECT auth.uid() AS uid)));

create policy user_update_preferences on public.preferences for update to authenticated
  using ((user_id = ( SELECT auth.uid() AS uid)))
  with check ((user_id = ( SELECT auth.uid() AS uid)));

create policy reject_insert_by_token on public.profiles as restrictive for insert to authenticated
  with check ((( SELECT public.token_scopes() AS token_scopes) IS NULL));

create policy reject_update_by_token on public.profiles as restrictive for update to authenticated
  using ((( SELECT public.token_scopes() AS token_scopes) IS NULL))
  with check ((( SELECT public.token_scopes() AS token_scopes) IS NULL));

create policy trigger_insert_profiles on public.profiles for insert to hustle_forge
  with check (true);

create policy user_insert_profiles on public.profiles for insert to authenticated
  with check ((id = ( SELECT auth.uid() AS uid)));

create policy user_select_profiles on public.profiles for select to authenticated
  using ((id = ( SELECT auth.uid() AS uid)));

create policy user_update_profiles on public.profiles for update to authenticated
  using ((id = ( SELECT auth.uid() AS uid)))
  with check ((id = ( SELECT auth.uid() AS uid)));

create policy reject_delete_by_token on public.push_subscriptions as restrictive for delete to authenticated
  using ((( SELECT public.token_scopes() AS token_scopes) IS NULL));

create policy user_delete_push_subscriptions on public.push_subscriptions for delete to authenticated
  using ((user_id = ( SELECT auth.uid() AS uid)));

create policy user_select_push_subscriptions on public.push_subscriptions for select to authenticated
  using ((user_id = ( SELECT auth.uid() AS uid)));

create policy trigger_insert_reminder_schedule on public.reminder_schedule for insert to hustle_forge
  with check (true);

create policy trigger_select_reminder_schedule on public.reminder_schedule for select to hustle_forge
  using (true);

create policy trigger_update_reminder_schedule on public.reminder_schedule for update to hustle_forge
  using (true)
  with check (true);

create policy owner_select_reviews on public.reviews for select to hustle_forge
  using ((user_id = ( SELECT auth.uid() AS uid)));

create policy reject_delete_by_token on public.reviews as restrictive for delete to authenticated
  using ((( SELECT public.token_scopes() AS token_scopes) IS NULL));

create policy user_delete_reviews on public.reviews for delete to authenticated
  using ((user_id = ( SELECT auth.uid() AS uid)));

create policy user_select_reviews on public.reviews for select to authenticated
  using (((user_id = ( SELECT auth.uid() AS uid)) AND (( SELECT public.is_premium() AS is_premium) OR (id = ( SELECT public.newest_review() AS newest_review)))));

create policy reject_delete_by_token on public.time_off as restrictive for delete to authenticated
  using ((( SELECT public.token_scopes() AS token_scopes) IS NULL));

create policy reject_insert_by_token on public.time_off as restrictive for insert to authenticated
  with check ((( SELECT public.token_scopes() AS token_scopes) IS NULL));

create policy user_delete_time_off on public.time_off for delete to authenticated
  using ((user_id = ( SELECT auth.uid() AS uid)));

create policy user_insert_time_off on public.time_off for insert to authenticated
  with check ((user_id = ( SELECT auth.uid() AS uid)));

create policy user_select_time_off on public.time_off for select to authenticated
  using ((user_id = ( SELECT auth.uid() AS uid)));

grant delete on public.access_tokens to service_role;
grant delete on public.analysis_runs to service_role;
grant delete on public.appended_items to service_role;
grant delete on public.connect_requests to service_role;
grant delete on public.document_links to authenticated;
grant delete on public.document_links to service_role;
grant delete on public.documents to authenticated;
grant delete on public.entries to authenticated;
grant delete on public.entries to service_role;
grant delete on public.entry_versions to service_role;
grant delete on public.import_days to service_role;
grant delete on public.mail_tokens to service_role;
grant delete on public.plan_reminders to service_role;
grant delete on public.preferences to service_role;
grant delete on public.profiles to service_role;
grant delete on public.push_subscriptions to authenticated;
grant delete on public.push_subscriptions to service_role;
grant delete on public.reminder_schedule to service_role;
grant delete on public.reviews to authenticated;
grant delete on public.reviews to service_role;
grant delete on public.slack_links to service_role;
grant delete on public.time_off to authenticated;
grant delete on public.time_off to service_role;
grant execute on function public.allow_only_erasure() to public;
grant execute on function public.begin_entry() to public;
grant execute on function public.can_append() to public;
grant execute on function public.drops_most_items(text,text) to public;
grant execute on function public.earliest_current_day(timestamp with time zone) to public;
grant execute on function public.earliest_today(timestamp with time zone) to public;
grant execute on function public.entry_text(text) to public;
grant execute on function public.erase_payer(uuid) to service_role;
grant execute on function public.erased_user(oid) to public;
grant execute on function public.fingerprint_logs(date,date) to public;
grant execute on function public.first_free_day() to public;
grant execute on function public.have_logs_changed(date,date,text,timestamp with time zone) to public;
grant execute on function public.is_premium() to public;
grant execute on function public.is_server(oid) to public;
grant execute on function public.keep_payment_facts() to public;
grant execute on function public.latest_today(timestamp with time zone) to public;
grant execute on function public.limit_document_links() to public;
grant execute on function public.limit_push_subscriptions() to public;
grant execute on function public.merge_time_off() to public;
grant execute on function public.newest_review() to public;
grant execute on function public.note_payment_status() to public;
grant execute on function public.refuse_change_of_ledger() to public;
grant execute on function public.replace_date_header(text,date) to public;
grant execute on function public.report_entry_change(text) to public;
grant execute on function public.revise_document() to public;
grant execute on function public.revise_entry() to public;
grant execute on function public.token_scopes() to public;
grant execute on function public.touch_profile() to public;
grant execute on function public.without_date_header(text) to public;
grant insert (id, country, ai_consent) on public.profiles to authenticated;
grant insert (user_id, date, id, content, updated_at, ai_feedback, hustle_score, ai_analyzed_at) on public.entries to authenticated;
grant insert (user_id, document_id, review_id, token_hash, expires_at) on public.document_links to authenticated;
grant insert (user_id, id, first_day, last_day) on public.time_off to authenticated;
grant insert (user_id, id, title, first_day, last_day, content) on public.documents to authenticated;
grant insert (user_id, key, items_hash, date, revision) on public.appended_items to authenticated;
grant insert on public.access_tokens to service_role;
grant insert on public.analyses to service_role;
grant insert on public.analysis_runs to service_role;
grant insert on public.coach_reader to service_role;
grant insert on public.connect_requests to service_role;
grant insert on public.entries to service_role;
grant insert on public.entry_words to service_role;
grant insert on public.import_days to service_role;
grant insert on public.mail_tokens to service_role;
grant insert on public.payment_changes to service_role;
grant insert on public.payment_events to service_role;
grant insert on public.payment_ledger to service_role;
grant insert on public.payments to service_role;
grant insert on public.plan_changes to service_role;
grant insert on public.plan_reminders to service_role;
grant insert on public.plan_uses to service_role;
grant insert on public.preferences to authenticated;
grant insert on public.preferences to service_role;
grant insert on public.profiles to service_role;
grant insert on public.push_subscriptions to service_role;
grant insert on public.reminder_schedule to service_role;
grant insert on public.reviews to service_role;
grant insert on public.slack_links to service_role;
grant insert on public.time_off to service_role;
grant select (id, user_id, order_id, amount_minor, currency, country, status, created_at, completed_at) on public.payments to authenticated;
grant select (user_id, date, id, entry_id, content, written_at, kept_at, replaced_by) on public.entry_versions to authenticated;
grant select (user_id, id, device, created_at, last_sent_at) on public.push_subscriptions to authenticated;
grant select (user_id, id, document_id, review_id, created_at, expires_at) on public.document_links to authenticated;
grant select (user_id, id, kind, date, period_from, period_to, provider, model, score, text, cited, missing_fact, created_at, cited_refs) on public.analyses to authenticated;
grant select on public.access_tokens to service_role;
grant select on public.analyses to service_role;
grant select on public.analysis_runs to service_role;
grant select on public.appended_items to authenticated;
grant select on public.appended_items to service_role;
grant select on public.coach_reader to service_role;
grant select on public.connect_requests to service_role;
grant select on public.deleted_days to authenticated;
grant select on public.document_links to service_role;
grant select on public.documents to authenticated;
grant select on public.documents to service_role;
grant select on public.entries to anon;
grant select on public.entries to authenticated;
grant select on public.entries to service_role;
grant select on public.entry_dates to authenticated;
grant select on public.entry_versions to service_role;
grant select on public.entry_words to authenticated;
grant select on public.entry_words to service_role;
grant select on public.import_days to service_role;
grant select on public.kept_reviews to authenticated;
grant select on public.mail_tokens to service_role;
grant select on public.payment_changes to service_role;
grant select on public.payment_events to service_role;
grant select on public.payment_ledger to service_role;
grant select on public.payments to service_role;
grant select on public.plan_changes to authenticated;
grant select on public.plan_changes to service_role;
grant select on public.plan_reminders to service_role;
grant select on public.plan_uses to authenticated;
grant select on public.plan_uses to service_role;
grant select on public.preferences to authenticated;
grant select on public.preferences to service_role;
grant select on public.profiles to anon;
grant select on public.profiles to authenticated;
grant select on public.profiles to service_role;
grant select on public.push_subscriptions to service_role;
grant select on public.reminder_schedule to service_role;
grant select on public.reviews to authenticated;
grant select on public.reviews to service_role;
grant select on public.slack_links to service_role;
grant select on public.time_off to authenticated;
grant select on public.time_off to service_role;
grant update (id, country, ai_consent) on public.profiles to authenticated;
grant update (last_used_at) on public.access_tokens to service_role;
grant update (logs_fingerprint) on public.reviews to service_role;
grant update (raw, processed_at) on public.payment_events to service_role;
grant update (title, first_day, last_day, content) on public.documents to authenticated;
grant update (user_id, date, content, updated_at, ai_feedback, hustle_score, ai_analyzed_at) on public.entries to authenticated;
grant update on public.analysis_runs to service_role;
grant update on public.coach_reader to service_role;
grant update on public.connect_requests to service_role;
grant update on public.entries to service_role;
grant update on public.entry_words to service_role;
grant update on public.import_days to service_role;
grant update on public.mail_tokens to service_role;
grant update on public.payments to service_role;
grant update on public.preferences to authenticated;
grant update on public.preferences to service_role;
grant update on public.profiles to service_role;
grant update on public.push_subscriptions to service_role;
grant update on public.reminder_schedule to service_role;
grant update on public.slack_links to service_role;
