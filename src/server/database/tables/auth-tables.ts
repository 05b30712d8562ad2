/** The tables of the schema `auth` as Kysely sees them (`database/migrations/auth`). */
import type { ColumnType, Generated } from 'kysely';

/** Read as an object; written as JSON text, because the driver would turn an array into a PostgreSQL array. */
type Json<T> = ColumnType<T, string | undefined, string>;
type Timestamp = ColumnType<Date, Date, Date>;
type OptionalTimestamp = ColumnType<Date | null, Date | null | undefined, Date | null>;

export type JsonObject = Record<string, unknown>;
/** An authentication method of a session (`amr`); `timestamp` in Unix seconds. */
export type AuthenticationMethod = { method: string; timestamp: number; provider?: string };

export type OneTimePurpose =
  | 'signup'
  | 'invite'
  | 'magiclink'
  | 'recovery'
  | 'email_change_current'
  | 'email_change_new'
  | 'reauthentication'
  | 'sms'
  | 'phone_change'
  | 'undo_deletion';

export type FactorType = 'totp' | 'phone' | 'webauthn';

export type AuthTables = {
  'auth.users': {
    id: Generated<string>;
    aud: Generated<string>;
    role: Generated<string>;
    email: string | null;
    password_hash: string | null;
    email_confirmed_at: OptionalTimestamp;
    email_proven_at: OptionalTimestamp;
    invited_at: OptionalTimestamp;
    phone: string | null;
    phone_confirmed_at: OptionalTimestamp;
    confirmation_sent_at: OptionalTimestamp;
    recovery_sent_at: OptionalTimestamp;
    reauthentication_sent_at: OptionalTimestamp;
    new_email: string | null;
    email_change_sent_at: OptionalTimestamp;
    existing_account_notice_sent_at: OptionalTimestamp;
    new_phone: Generated<string | null>;
    phone_change_sent_at: OptionalTimestamp;
    magiclink_sent_at: OptionalTimestamp;
    new_device_notice_sent_at: OptionalTimestamp;
    factor_guess_notice_sent_at: OptionalTimestamp;
    is_sso_user: Generated<boolean>;
    deletion_due_at: OptionalTimestamp;
    deleted_at: OptionalTimestamp;
    last_sign_in_at: OptionalTimestamp;
    raw_app_meta_data: Json<JsonObject>;
    raw_user_meta_data: Json<JsonObject>;
    is_anonymous: Generated<boolean>;
    banned_until: OptionalTimestamp;
    created_at: Timestamp;
    updated_at: Timestamp;
  };
  'auth.identities': {
    id: Generated<string>;
    user_id: string;
    provider: string;
    provider_id: string;
    identity_data: Json<JsonObject>;
    last_sign_in_at: OptionalTimestamp;
    created_at: Timestamp;
    updated_at: Timestamp;
  };
  'auth.sessions': {
    id: Generated<string>;
    user_id: string;
    aal: Generated<'aal1' | 'aal2' | 'aal3'>;
    amr: Json<AuthenticationMethod[]>;
    ip: string | null;
    user_agent: string | null;
    created_at: Timestamp;
    refreshed_at: OptionalTimestamp;
    factor_id: Generated<string | null>;
    passkey_id: Generated<string | null>;
  };
  'auth.refresh_tokens': {
    session_id: string;
    generation: number;
    token_hash: Buffer;
    salt: Buffer;
    created_at: Timestamp;
    reissued_at: OptionalTimestamp;
  };
  'auth.one_time_tokens': {
    user_id: string;
    purpose: OneTimePurpose;
    address: string;
    link_hash: Buffer | null;
    code_hash: Buffer;
    wrong_codes: Generated<number>;
    earlier_wrong_codes: Generated<number>;
    confirmed_at: OptionalTimestamp;
    created_at: Timestamp;
    expires_at: Timestamp;
    flow_id: Generated<string | null>;
  };
  'auth.earlier_links': {
    link_hash: Buffer;
    user_id: string;
    /** Only `signup`, `magiclink`, `recovery` and the two of an address change. */
    purpose: OneTimePurpose;
    address: string;
    expires_at: Timestamp;
    flow_id: string | null;
  };
  'auth.flows': {
    id: Generated<string>;
    method: string;
    provider: string | null;
    code_challenge: string | null;
    code_challenge_method: 's256' | 'plain' | null;
    redirect_to: string;
    linking_user_id: Generated<string | null>;
    browser_hash: Generated<Buffer | null>;
    provider_secrets: Generated<Buffer | null>;
    user_id: Generated<string | null>;
    auth_code_hash: Generated<Buffer | null>;
    auth_code_issued_at: OptionalTimestamp;
    returned_at: OptionalTimestamp;
    created_at: Timestamp;
    expires_at: Timestamp;
  };
  'auth.webauthn_credentials': {
    id: Generated<string>;
    user_id: string;
    purpose: 'passkey' | 'factor';
    credential_id: Buffer;
    public_key: Buffer;
    sign_count: Generated<number>;
    transports: string[];
    aaguid: string;
    backed_up: boolean;
    friendly_name: Generated<string>;
    created_at: Timestamp;
    updated_at: Timestamp;
    last_used_at: OptionalTimestamp;
  };
  'auth.mfa_factors': {
    id: Generated<string>;
    user_id: string;
    factor_type: FactorType;
    status: Generated<'unverified' | 'verified'>;
    friendly_name: Generated<string>;
    secret: Generated<Buffer | null>;
    last_time_step: Generated<number | null>;
    phone: Generated<string | null>;
    credential_id: Generated<string | null>;
    last_challenged_at: OptionalTimestamp;
    created_at: Timestamp;
    updated_at: Timestamp;
  };
  'auth.mfa_challenges': {
    id: Generated<string>;
    factor_id: string;
    ip: string;
    code_hash: Generated<Buffer | null>;
    webauthn_challenge: Generated<string | null>;
    wrong_codes: Generated<number>;
    verified_at: OptionalTimestamp;
    created_at: Timestamp;
    expires_at: Timestamp;
  };
  'auth.recovery_code_sets': {
    user_id: string;
    id: Generated<string>;
    friendly_name: string;
    created_at: Timestamp;
  };
  'auth.recovery_codes': {
    user_id: string;
    code_hash: Buffer;
    used_at: OptionalTimestamp;
  };
  'auth.passkey_challenges': {
    id: Generated<string>;
    user_id: string | null;
    challenge: string;
    expires_at: Timestamp;
  };
  'auth.sso_providers': {
    id: Generated<string>;
    entity_id: string;
    metadata_xml: string;
    attribute_mapping: Json<JsonObject>;
    disabled: Generated<boolean>;
    created_at: Timestamp;
    updated_at: Timestamp;
  };
  'auth.sso_domains': { domain: string; provider_id: string };
  'auth.saml_requests': {
    id: string;
    flow_id: string;
    provider_id: string;
    created_at: Timestamp;
    expires_at: Timestamp;
  };
  'auth.web3_nonces': { nonce: string; expires_at: Timestamp };
  'auth.used_id_tokens': { token_hash: Buffer; expires_at: Timestamp };
  'auth.signing_keys': { is_only_row: Generated<boolean>; key_set: string; rotated_at: Generated<Date> };
  'auth.audit_log': {
    id: Generated<number>;
    at: Timestamp;
    user_id: string | null;
    actor: 'user' | 'guest' | 'service' | 'operator' | 'job';
    event: string;
    ip: string | null;
    user_agent: string | null;
    details: Json<JsonObject>;
  };
};
