/** The tables of the schema `auth` as Kysely sees them (`database/migrations/auth`). */
import type { ColumnType, Generated } from 'kysely';

/** Read as an object; written as JSON text, because the driver would turn an array into a PostgreSQL array. */
type Json<T> = ColumnType<T, string | undefined, string>;
type Timestamp = ColumnType<Date, Date, Date>;
type OptionalTimestamp = ColumnType<Date | null, Date | null | undefined, Date | null>;

export type JsonObject = Record<string, unknown>;
/** An authentication method of a session (`amr`); `timestamp` in Unix seconds. */
export type AuthenticationMethod = { method: string; timestamp: number; provider?: string };

export type OneTimePurpose = 'signup' | 'recovery' | 'email_change_current' | 'email_change_new' | 'reauthentication';

export type AuthTables = {
  'auth.users': {
    id: Generated<string>;
    aud: Generated<string>;
    role: Generated<string>;
    email: string | null;
    password_hash: string | null;
    email_confirmed_at: OptionalTimestamp;
    invited_at: OptionalTimestamp;
    phone: string | null;
    phone_confirmed_at: OptionalTimestamp;
    confirmation_sent_at: OptionalTimestamp;
    recovery_sent_at: OptionalTimestamp;
    reauthentication_sent_at: OptionalTimestamp;
    new_email: string | null;
    email_change_sent_at: OptionalTimestamp;
    existing_account_notice_sent_at: OptionalTimestamp;
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
  };
  'auth.earlier_links': {
    link_hash: Buffer;
    user_id: string;
    /** Only `signup` and `recovery`. */
    purpose: OneTimePurpose;
    address: string;
    expires_at: Timestamp;
  };
};
