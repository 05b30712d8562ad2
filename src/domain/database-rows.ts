/**
 * Written by `npm run schema` from the migrations, never edited: the rows of all tables and views as the server reads
 * them. A view's columns count as not null. A text with a check against a list of values is a union type.
 */
// a6ed991de7f4f37e3adf3342c7572703005ca771cadb0fc0dd6fa35ab24dfdb2
import type { Day } from './day/day.ts';

export type Rows = {
  'auth.audit_log': {
    id: number;
    at: Date;
    user_id: string | null;
    actor: 'user' | 'guest' | 'service' | 'operator' | 'job';
    event: string;
    ip: string | null;
    user_agent: string | null;
    details: unknown;
  };
  'auth.earlier_links': {
    link_hash: Uint8Array;
    user_id: string;
    purpose: 'signup' | 'magiclink' | 'recovery' | 'email_change_current' | 'email_change_new';
    address: string;
    expires_at: Date;
    flow_id: string | null;
  };
  'auth.flows': {
    id: string;
    method: string;
    provider: string | null;
    code_challenge: string | null;
    code_challenge_method: 's256' | 'plain' | null;
    redirect_to: string;
    linking_user_id: string | null;
    browser_hash: Uint8Array | null;
    provider_secrets: Uint8Array | null;
    user_id: string | null;
    auth_code_hash: Uint8Array | null;
    auth_code_issued_at: Date | null;
    returned_at: Date | null;
    created_at: Date;
    expires_at: Date;
  };
  'auth.identities': {
    id: string;
    user_id: string;
    provider: string;
    provider_id: string;
    identity_data: unknown;
    last_sign_in_at: Date | null;
    created_at: Date;
    updated_at: Date;
  };
  'auth.mfa_challenges': {
    id: string;
    factor_id: string;
    ip: string;
    code_hash: Uint8Array | null;
    webauthn_challenge: string | null;
    wrong_codes: number;
    verified_at: Date | null;
    created_at: Date;
    expires_at: Date;
  };
  'auth.mfa_factors': {
    id: string;
    user_id: string;
    factor_type: 'totp' | 'phone' | 'webauthn';
    status: 'unverified' | 'verified';
    friendly_name: string;
    secret: Uint8Array | null;
    last_time_step: number | null;
    phone: string | null;
    credential_id: string | null;
    last_challenged_at: Date | null;
    created_at: Date;
    updated_at: Date;
  };
  'auth.one_time_tokens': {
    user_id: string;
    purpose: 'signup' | 'invite' | 'magiclink' | 'recovery' | 'email_change_current' | 'email_change_new' | 'reauthentication' | 'sms' | 'phone_change' | 'undo_deletion';
    address: string;
    link_hash: Uint8Array | null;
    code_hash: Uint8Array;
    wrong_codes: number;
    earlier_wrong_codes: number;
    confirmed_at: Date | null;
    created_at: Date;
    expires_at: Date;
    flow_id: string | null;
  };
  'auth.passkey_challenges': {
    id: string;
    user_id: string | null;
    challenge: string;
    expires_at: Date;
  };
  'auth.rate_limits': {
    key: string;
    points: number;
    expire: number | null;
  };
  'auth.recovery_code_sets': {
    user_id: string;
    id: string;
    friendly_name: string;
    created_at: Date;
  };
  'auth.recovery_codes': {
    user_id: string;
    code_hash: Uint8Array;
    used_at: Date | null;
  };
  'auth.refresh_tokens': {
    session_id: string;
    generation: number;
    token_hash: Uint8Array;
    salt: Uint8Array;
    created_at: Date;
    reissued_at: Date | null;
  };
  'auth.saml_requests': {
    id: string;
    flow_id: string;
    provider_id: string;
    created_at: Date;
    expires_at: Date;
  };
  'auth.sessions': {
    id: string;
    user_id: string;
    aal: 'aal1' | 'aal2' | 'aal3';
    amr: unknown;
    ip: string | null;
    user_agent: string | null;
    created_at: Date;
    refreshed_at: Date | null;
    factor_id: string | null;
    passkey_id: string | null;
  };
  'auth.signing_keys': {
    is_only_row: boolean;
    key_set: string;
    rotated_at: Date;
  };
  'auth.sso_domains': {
    domain: string;
    provider_id: string;
  };
  'auth.sso_providers': {
    id: string;
    entity_id: string;
    metadata_xml: string;
    attribute_mapping: unknown;
    disabled: boolean;
    created_at: Date;
    updated_at: Date;
  };
  'auth.used_id_tokens': {
    token_hash: Uint8Array;
    expires_at: Date;
  };
  'auth.users': {
    id: string;
    aud: string;
    role: string;
    email: string | null;
    password_hash: string | null;
    email_confirmed_at: Date | null;
    invited_at: Date | null;
    phone: string | null;
    phone_confirmed_at: Date | null;
    confirmation_sent_at: Date | null;
    recovery_sent_at: Date | null;
    reauthentication_sent_at: Date | null;
    new_email: string | null;
    email_change_sent_at: Date | null;
    existing_account_notice_sent_at: Date | null;
    last_sign_in_at: Date | null;
    raw_app_meta_data: unknown;
    raw_user_meta_data: unknown;
    is_anonymous: boolean;
    banned_until: Date | null;
    created_at: Date;
    updated_at: Date;
    new_phone: string | null;
    phone_change_sent_at: Date | null;
    magiclink_sent_at: Date | null;
    new_device_notice_sent_at: Date | null;
    factor_guess_notice_sent_at: Date | null;
    is_sso_user: boolean;
    deletion_due_at: Date | null;
    deleted_at: Date | null;
    email_proven_at: Date | null;
  };
  'auth.web3_nonces': {
    nonce: string;
    expires_at: Date;
  };
  'auth.webauthn_credentials': {
    id: string;
    user_id: string;
    purpose: 'passkey' | 'factor';
    credential_id: Uint8Array;
    public_key: Uint8Array;
    sign_count: number;
    transports: string[];
    aaguid: string;
    backed_up: boolean;
    friendly_name: string;
    created_at: Date;
    updated_at: Date;
    last_used_at: Date | null;
  };
  access_tokens: {
    user_id: string;
    id: string;
    name: string;
    scopes: string[];
    token_hash: Uint8Array;
    time_zone: string | null;
    created_at: Date;
    expires_at: Date;
    last_used_at: Date | null;
  };
  analyses: {
    user_id: string;
    id: string;
    kind: 'feedback' | 'trend';
    date: Day | null;
    period_from: Day | null;
    period_to: Day | null;
    input_hash: string;
    provider: string;
    model: string;
    model_version: string | null;
    prompt_version: number;
    finish_reason: string;
    input_tokens: number | null;
    output_tokens: number | null;
    duration_ms: number;
    score: number | null;
    text: string;
    cited: number[];
    missing_fact: string | null;
    created_at: Date;
    cited_refs: string[] | null;
  };
  analysis_runs: {
    user_id: string;
    kind: 'feedback' | 'trend';
    key: string;
    run: string;
    lease_until: Date;
    counted_on: Day;
    tries: number;
  };
  appended_items: {
    user_id: string;
    key: string;
    items_hash: string;
    date: Day;
    revision: number;
    created_at: Date;
  };
  coach_reader: {
    only_one: boolean;
    name: string;
    since: Date;
  };
  connect_requests: {
    code_hash: Uint8Array;
    user_code: string | null;
    client_name: string;
    scopes: string[];
    slack_team: string | null;
    slack_user: string | null;
    created_at: Date;
    expires_at: Date;
    poll_seconds: number;
    polled_at: Date | null;
    approved_by: string | null;
    token_days: number | null;
    time_zone: string | null;
    denied_at: Date | null;
  };
  deleted_days: {
    user_id: string;
    date: Day;
    version_id: string;
    deleted_at: Date;
    excerpt: string;
  };
  document_links: {
    user_id: string;
    id: string;
    document_id: string | null;
    review_id: string | null;
    token_hash: Uint8Array;
    created_at: Date;
    expires_at: Date;
  };
  documents: {
    user_id: string;
    id: string;
    title: string;
    first_day: Day;
    last_day: Day;
    content: string;
    revision: number;
    created_at: Date;
    updated_at: Date;
  };
  entries: {
    user_id: string;
    date: Day;
    id: string;
    content: string;
    content_text: string;
    revision: number;
    created_at: Date;
    updated_at: Date;
    ai_feedback: string | null;
    hustle_score: number | null;
    ai_analyzed_at: Date | null;
  };
  entry_dates: {
    user_id: string;
    date: Day;
  };
  entry_versions: {
    user_id: string;
    date: Day;
    id: string;
    entry_id: string;
    content: string;
    written_at: Date;
    kept_at: Date;
    replaced_by: 'edit' | 'drop' | 'restore' | 'deletion';
    feedback: unknown;
  };
  entry_words: {
    user_id: string;
    date: Day;
    revision: number;
    words: string;
    tags: string[];
    tags_revision: number | null;
  };
  import_days: {
    user_id: string;
    import_id: string;
    date: Day;
    entry_id: string;
    revision: number;
    change: 'added' | 'filled' | 'replaced' | 'feedback';
    earlier_coach: unknown;
    written_at: Date;
    program: string | null;
  };
  kept_reviews: {
    user_id: string;
    id: string;
    period: string;
    period_from: Day;
    period_to: Day;
    entry_count: number;
    text: string;
    created_at: Date;
    is_changed: boolean;
  };
  mail_tokens: {
    user_id: string;
    token_hash: Uint8Array;
    purpose: 'tap' | 'reply';
    day: Day;
    expires_at: Date;
  };
  payment_changes: {
    payment_id: string;
    id: number;
    status: string;
    changed_at: Date;
  };
  payment_events: {
    id: string;
    type: string;
    raw: string;
    received_at: Date;
    processed_at: Date | null;
  };
  payment_ledger: {
    payment_id: string;
    id: number;
    kind: 'capture' | 'fee' | 'refund' | 'reversal';
    amount_minor: number;
    currency: string;
    provider_ref: string;
    booked_at: Date;
  };
  payments: {
    id: string;
    user_id: string;
    provider: 'paypal';
    order_id: string | null;
    capture_id: string | null;
    amount_minor: number;
    currency: string;
    country: string | null;
    status: 'created' | 'approved' | 'capturing' | 'pending' | 'completed' | 'declined' | 'voided' | 'expired' | 'refunded' | 'reversed' | 'needs_review';
    lease_until: Date | null;
    due_at: Date | null;
    refused_captures: number;
    refund_requested_at: Date | null;
    approval_url: string | null;
    debug_id: string | null;
    created_at: Date;
    updated_at: Date;
    completed_at: Date | null;
    receipt_mailed_at: Date | null;
    mail_due_at: Date | null;
  };
  plan_changes: {
    user_id: string;
    id: number;
    plan: 'free' | 'premium';
    access_valid_until: Day | null;
    reason: string;
    changed_at: Date;
    payment_id: string | null;
    valid_from: Day | null;
  };
  plan_reminders: {
    user_id: string;
    access_valid_until: Day;
    days_before: number;
    mailed_at: Date;
  };
  plan_uses: {
    user_id: string;
    id: number;
    kind: 'export' | 'analysis';
    used_at: Date;
  };
  preferences: {
    user_id: string;
    time_zone: string | null;
    workdays: number[];
    remind_at: number | null;
    remind_by_mail: boolean;
    remind_by_push: boolean;
    digest: boolean;
    digest_review: boolean;
    day_ends_at: number;
    prompts: boolean;
  };
  profiles: {
    id: string;
    country: string | null;
    subscription_plan: 'free' | 'premium';
    access_valid_until: Day | null;
    ai_consent: boolean;
    created_at: Date;
    updated_at: Date;
  };
  push_subscriptions: {
    user_id: string;
    id: string;
    session_id: string;
    endpoint: string;
    p256dh: Uint8Array;
    auth: Uint8Array;
    device: string;
    renewal_hash: Uint8Array;
    created_at: Date;
    last_sent_at: Date | null;
  };
  reminder_schedule: {
    user_id: string;
    kind: 'reminder' | 'digest';
    due_at: Date;
    day: Day | null;
    sent_day: Day | null;
    on_since: Date;
    leased_until: Date | null;
    lease: string | null;
  };
  reviews: {
    user_id: string;
    id: string;
    period: '7-day' | '30-day' | 'quarter' | 'year';
    period_from: Day;
    period_to: Day;
    entry_count: number | null;
    text: string;
    logs_fingerprint: string | null;
    created_at: Date;
  };
  slack_links: {
    team_id: string;
    slack_user: string;
    user_id: string;
    name: string;
    time_zone: string | null;
    created_at: Date;
  };
  time_off: {
    user_id: string;
    id: string;
    first_day: Day;
    last_day: Day;
    created_at: Date;
  };
};

/** Columns that only PostgreSQL writes. */
export type IdentityColumns = {
  'auth.audit_log': 'id';
  payment_changes: 'id';
  payment_ledger: 'id';
  plan_changes: 'id';
  plan_uses: 'id';
};

/** Columns that an insert may omit, because they have a default. */
export type DefaultColumns = {
  'auth.audit_log': 'at' | 'details';
  'auth.flows': 'id' | 'created_at';
  'auth.identities': 'id' | 'created_at' | 'updated_at';
  'auth.mfa_challenges': 'id' | 'wrong_codes' | 'created_at';
  'auth.mfa_factors': 'id' | 'status' | 'friendly_name' | 'created_at' | 'updated_at';
  'auth.one_time_tokens': 'wrong_codes' | 'earlier_wrong_codes' | 'created_at';
  'auth.passkey_challenges': 'id';
  'auth.rate_limits': 'points';
  'auth.recovery_code_sets': 'id' | 'created_at';
  'auth.refresh_tokens': 'created_at';
  'auth.saml_requests': 'created_at';
  'auth.sessions': 'id' | 'aal' | 'amr' | 'created_at';
  'auth.signing_keys': 'is_only_row' | 'rotated_at';
  'auth.sso_providers': 'id' | 'attribute_mapping' | 'disabled' | 'created_at' | 'updated_at';
  'auth.users': 'id' | 'aud' | 'role' | 'raw_app_meta_data' | 'raw_user_meta_data' | 'is_anonymous' | 'created_at' | 'updated_at' | 'is_sso_user';
  'auth.webauthn_credentials': 'id' | 'sign_count' | 'transports' | 'backed_up' | 'friendly_name' | 'created_at' | 'updated_at';
  access_tokens: 'id' | 'created_at';
  analyses: 'id' | 'cited' | 'created_at';
  appended_items: 'created_at';
  coach_reader: 'only_one' | 'since';
  connect_requests: 'created_at' | 'poll_seconds';
  document_links: 'id' | 'created_at';
  documents: 'id' | 'revision' | 'created_at' | 'updated_at';
  entries: 'id' | 'content_text' | 'revision' | 'created_at' | 'updated_at';
  entry_versions: 'id' | 'kept_at';
  entry_words: 'tags';
  import_days: 'written_at';
  payment_changes: 'changed_at';
  payment_events: 'received_at';
  payment_ledger: 'booked_at';
  payments: 'id' | 'provider' | 'status' | 'refused_captures' | 'created_at' | 'updated_at';
  plan_changes: 'changed_at';
  plan_reminders: 'mailed_at';
  plan_uses: 'used_at';
  preferences: 'workdays' | 'remind_by_mail' | 'remind_by_push' | 'digest' | 'digest_review' | 'day_ends_at' | 'prompts';
  profiles: 'subscription_plan' | 'ai_consent' | 'created_at' | 'updated_at';
  push_subscriptions: 'id' | 'created_at';
  reviews: 'id' | 'created_at';
  slack_links: 'created_at';
  time_off: 'id' | 'created_at';
};

/** The columns that a signed-in user may read, the key, and the defaults of the columns that the user may insert. A view has no key. */
export const READABLE_TABLES = {
  analyses: {
    columns: {
      user_id: 'uuid',
      id: 'uuid',
      kind: 'text',
      date: 'date',
      period_from: 'date',
      period_to: 'date',
      provider: 'text',
      model: 'text',
      score: 'integer',
      text: 'text',
      cited: 'smallint[]',
      missing_fact: 'text',
      created_at: 'timestamptz',
      cited_refs: 'text[]',
    },
    key: ['user_id', 'id'],
    defaults: {},
  },
  appended_items: {
    columns: {
      user_id: 'uuid',
      key: 'text',
      items_hash: 'text',
      date: 'date',
      revision: 'integer',
      created_at: 'timestamptz',
    },
    key: ['user_id', 'key'],
    defaults: {},
  },
  deleted_days: {
    columns: {
      user_id: 'uuid',
      date: 'date',
      version_id: 'uuid',
      deleted_at: 'timestamptz',
      excerpt: 'text',
    },
    key: [],
    defaults: {},
  },
  document_links: {
    columns: {
      user_id: 'uuid',
      id: 'uuid',
      document_id: 'uuid',
      review_id: 'uuid',
      created_at: 'timestamptz',
      expires_at: 'timestamptz',
    },
    key: ['user_id', 'id'],
    defaults: {},
  },
  documents: {
    columns: {
      user_id: 'uuid',
      id: 'uuid',
      title: 'text',
      first_day: 'date',
      last_day: 'date',
      content: 'text',
      revision: 'integer',
      created_at: 'timestamptz',
      updated_at: 'timestamptz',
    },
    key: ['user_id', 'id'],
    defaults: { id: 'gen_random_uuid()' },
  },
  entries: {
    columns: {
      user_id: 'uuid',
      date: 'date',
      id: 'uuid',
      content: 'text',
      content_text: 'text',
      revision: 'integer',
      created_at: 'timestamptz',
      updated_at: 'timestamptz',
      ai_feedback: 'text',
      hustle_score: 'integer',
      ai_analyzed_at: 'timestamptz',
    },
    key: ['user_id', 'date'],
    defaults: { id: 'gen_random_uuid()', updated_at: 'now()' },
  },
  entry_dates: {
    columns: {
      user_id: 'uuid',
      date: 'date',
    },
    key: [],
    defaults: {},
  },
  entry_versions: {
    columns: {
      user_id: 'uuid',
      date: 'date',
      id: 'uuid',
      entry_id: 'uuid',
      content: 'text',
      written_at: 'timestamptz',
      kept_at: 'timestamptz',
      replaced_by: 'text',
    },
    key: ['user_id', 'date', 'id'],
    defaults: {},
  },
  entry_words: {
    columns: {
      user_id: 'uuid',
      date: 'date',
      revision: 'integer',
      words: 'text',
      tags: 'text[]',
      tags_revision: 'integer',
    },
    key: ['user_id', 'date'],
    defaults: {},
  },
  kept_reviews: {
    columns: {
      user_id: 'uuid',
      id: 'uuid',
      period: 'text',
      period_from: 'date',
      period_to: 'date',
      entry_count: 'integer',
      text: 'text',
      created_at: 'timestamptz',
      is_changed: 'boolean',
    },
    key: [],
    defaults: {},
  },
  payments: {
    columns: {
      id: 'uuid',
      user_id: 'uuid',
      order_id: 'text',
      amount_minor: 'integer',
      currency: 'text',
      country: 'text',
      status: 'text',
      created_at: 'timestamptz',
      completed_at: 'timestamptz',
    },
    key: ['id'],
    defaults: {},
  },
  plan_changes: {
    columns: {
      user_id: 'uuid',
      id: 'bigint',
      plan: 'text',
      access_valid_until: 'date',
      reason: 'text',
      changed_at: 'timestamptz',
      payment_id: 'uuid',
      valid_from: 'date',
    },
    key: ['user_id', 'id'],
    defaults: {},
  },
  plan_uses: {
    columns: {
      user_id: 'uuid',
      id: 'bigint',
      kind: 'text',
      used_at: 'timestamptz',
    },
    key: ['user_id', 'id'],
    defaults: {},
  },
  preferences: {
    columns: {
      user_id: 'uuid',
      time_zone: 'text',
      workdays: 'smallint[]',
      remind_at: 'smallint',
      remind_by_mail: 'boolean',
      remind_by_push: 'boolean',
      digest: 'boolean',
      digest_review: 'boolean',
      day_ends_at: 'smallint',
      prompts: 'boolean',
    },
    key: ['user_id'],
    defaults: { workdays: '\'{1,2,3,4,5}\'::smallint[]', remind_by_mail: 'false', remind_by_push: 'false', digest: 'false', digest_review: 'false', day_ends_at: '0', prompts: 'false' },
  },
  profiles: {
    columns: {
      id: 'uuid',
      country: 'text',
      subscription_plan: 'text',
      access_valid_until: 'date',
      ai_consent: 'boolean',
      created_at: 'timestamptz',
      updated_at: 'timestamptz',
    },
    key: ['id'],
    defaults: { ai_consent: 'false' },
  },
  push_subscriptions: {
    columns: {
      user_id: 'uuid',
      id: 'uuid',
      device: 'text',
      created_at: 'timestamptz',
      last_sent_at: 'timestamptz',
    },
    key: ['user_id', 'id'],
    defaults: {},
  },
  reviews: {
    columns: {
      user_id: 'uuid',
      id: 'uuid',
      period: 'text',
      period_from: 'date',
      period_to: 'date',
      entry_count: 'integer',
      text: 'text',
      logs_fingerprint: 'text',
      created_at: 'timestamptz',
    },
    key: ['user_id', 'id'],
    defaults: {},
  },
  time_off: {
    columns: {
      user_id: 'uuid',
      id: 'uuid',
      first_day: 'date',
      last_day: 'date',
      created_at: 'timestamptz',
    },
    key: ['user_id', 'id'],
    defaults: { id: 'gen_random_uuid()' },
  },
} as const;

/** A row as /rest/v1 sends it to a signed-in user. */
export type ApiRow<T extends keyof typeof READABLE_TABLES> = {
  [C in keyof (typeof READABLE_TABLES)[T]['columns'] & keyof Rows[T]]: ApiValue<Rows[T][C]>;
};
type ApiValue<V> = V extends Date ? string : V;
