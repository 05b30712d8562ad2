/** The tables of the schema `public` as Kysely sees them (`database/migrations/app`). */
import type { ColumnType, Generated } from 'kysely';

import type { Day } from '#domain/day/day.ts';
import type { PaymentStatus } from '#domain/payment/payment.ts';
import type { PlanId } from '#domain/plan/plan.ts';

/** Read, never written. */
type GeneratedByDatabase<T> = ColumnType<T, never, never>;
type AnalysisKind = 'feedback' | 'trend';
type Timestamp = ColumnType<Date, Date | undefined, Date>;

export type AppTables = {
  profiles: {
    id: string;
    /** Two capitals, ISO 3166-1. */
    country: string | null;
    subscription_plan: Generated<PlanId>;
    access_valid_until: Day | null;
    ai_consent: Generated<boolean>;
    created_at: Timestamp;
    updated_at: Timestamp;
  };
  entries: {
    user_id: string;
    date: Day;
    id: Generated<string>;
    content: string;
    /** Kept by the database: `public.entry_text(content)`. */
    content_text: GeneratedByDatabase<string>;
    /** Raised by the database with every change. */
    revision: GeneratedByDatabase<number>;
    created_at: Timestamp;
    /** Set by the database when the content changes. */
    updated_at: Timestamp;
    ai_feedback: string | null;
    hustle_score: number | null;
    ai_analyzed_at: Date | null;
  };
  /** What a search compares with, made by the server; it can be emptied at any time. */
  entry_words: {
    user_id: string;
    date: Day;
    /** Of the entry when its words were read. */
    revision: number;
    words: string;
  };
  /** One row for every change of a plan; rows are only ever added. */
  plan_changes: {
    user_id: string;
    id: GeneratedByDatabase<number>;
    plan: PlanId;
    access_valid_until: Day | null;
    /** What brought the change about, e.g. `operator grant`, `payment`, `expiry`. */
    reason: string;
    changed_at: Timestamp;
    payment_id: string | null;
    /** The day from which a paid year was counted. */
    valid_from: Day | null;
  };
  /** One row for every attempt to buy a year; rows are never deleted, and their facts never change. */
  payments: {
    id: Generated<string>;
    user_id: string;
    provider: Generated<'paypal'>;
    /** PayPal's name for the order, once it has given one. */
    order_id: string | null;
    capture_id: string | null;
    amount_minor: number;
    currency: string;
    country: string | null;
    status: Generated<PaymentStatus>;
    /** Until then somebody works on this payment alone. */
    lease_until: Date | null;
    /** When the sweep looks at it next; null when there is nothing left to find out. */
    due_at: Date | null;
    refused_captures: Generated<number>;
    refund_requested_at: Date | null;
    approval_url: string | null;
    debug_id: string | null;
    created_at: Timestamp;
    /** Set by the database. */
    updated_at: GeneratedByDatabase<Date>;
    completed_at: Date | null;
    receipt_mailed_at: Date | null;
    /** When the buyer is to be told of the status by mail: set by the database, cleared once that is done. */
    mail_due_at: Date | null;
  };
  /** Every status that a payment has had: written by the database itself. */
  payment_changes: {
    payment_id: string;
    id: GeneratedByDatabase<number>;
    status: PaymentStatus;
    changed_at: GeneratedByDatabase<Date>;
  };
  /** What PayPal's webhooks said, as they said it; the text is emptied after a while. */
  payment_events: {
    id: string;
    type: string;
    raw: string;
    received_at: Timestamp;
    processed_at: Date | null;
  };
  /** The money that moved; rows are only ever added. */
  payment_ledger: {
    payment_id: string;
    id: GeneratedByDatabase<number>;
    kind: 'capture' | 'fee' | 'refund' | 'reversal';
    amount_minor: number;
    currency: string;
    provider_ref: string;
    booked_at: Timestamp;
  };
  /** What a plan was used for, for the rule on refunds; rows are only ever added. */
  plan_uses: {
    user_id: string;
    id: GeneratedByDatabase<number>;
    kind: 'export' | 'analysis';
    used_at: Timestamp;
  };
  /** What the coach said; rows are only ever added, and go with the account or with the day. */
  analyses: {
    user_id: string;
    id: Generated<string>;
    kind: AnalysisKind;
    /** Of a feedback. */
    date: Day | null;
    /** Of a trend. */
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
    /** The places of the cited lines, and what the feedback calls them: null in those made before prompt version 4. */
    cited: Generated<number[]>;
    cited_refs: string[] | null;
    missing_fact: string | null;
    created_at: Timestamp;
  };
  /** Who is at an analysis, and how often it was tried today. */
  analysis_runs: {
    user_id: string;
    kind: AnalysisKind;
    key: string;
    run: string;
    lease_until: Date;
    counted_on: Day;
    tries: number;
  };
  coach_reader: {
    only_one: Generated<boolean>;
    name: string;
    since: Timestamp;
  };
  plan_reminders: {
    user_id: string;
    access_valid_until: Day;
    days_before: number;
    mailed_at: Timestamp;
  };
};
