/** The tables of the schema `public` as Kysely sees them (`database/migrations/app`). */
import type { ColumnType, Generated } from 'kysely';

import type { Day } from '#domain/day/day.ts';
import type { PaymentStatus } from '#domain/payment/payment.ts';
import type { PlanId } from '#domain/plan/plan.ts';

/** The type of a column that the server reads and only the database writes. */
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
    /** Maintained by a trigger: `public.entry_text(content)`. */
    content_text: GeneratedByDatabase<string>;
    /** Incremented by a trigger when the date or the content changes. */
    revision: GeneratedByDatabase<number>;
    created_at: Timestamp;
    /** Set by the database when the date or the content changes. */
    updated_at: Timestamp;
    ai_feedback: string | null;
    hustle_score: number | null;
    ai_analyzed_at: Date | null;
  };
  /** The search index: a cache the server rebuilds on demand. Safe to empty at any time. */
  entry_words: {
    user_id: string;
    date: Day;
    /** The entry's revision when it was indexed. */
    revision: number;
    words: string;
  };
  /** Append-only: one row for each plan change. */
  plan_changes: {
    user_id: string;
    id: GeneratedByDatabase<number>;
    plan: PlanId;
    access_valid_until: Day | null;
    /** The cause, e.g. `operator grant`, `payment`, `expiry`. */
    reason: string;
    changed_at: Timestamp;
    payment_id: string | null;
    /** The first day of the paid year. */
    valid_from: Day | null;
  };
  /**
   * One row for each attempt to buy a year. Rows are never deleted. Amount and currency are immutable; user and country
   * change only when `erase_payer` removes a deleted account from the row.
   */
  payments: {
    id: Generated<string>;
    user_id: string;
    provider: Generated<'paypal'>;
    /** PayPal's order id, once PayPal has assigned one. */
    order_id: string | null;
    capture_id: string | null;
    amount_minor: number;
    currency: string;
    country: string | null;
    status: Generated<PaymentStatus>;
    /** Lease: until then one worker holds this payment exclusively. */
    lease_until: Date | null;
    /** When the job `reconcile-payments` polls PayPal next; null when nothing is left to poll. */
    due_at: Date | null;
    refused_captures: Generated<number>;
    refund_requested_at: Date | null;
    approval_url: string | null;
    debug_id: string | null;
    created_at: Timestamp;
    updated_at: GeneratedByDatabase<Date>;
    completed_at: Date | null;
    receipt_mailed_at: Date | null;
    /** When the status mail to the buyer is due: set by a trigger, cleared once the mail is sent or dropped. */
    mail_due_at: Date | null;
  };
  /** Status history, written by a trigger. */
  payment_changes: {
    payment_id: string;
    id: GeneratedByDatabase<number>;
    status: PaymentStatus;
    changed_at: GeneratedByDatabase<Date>;
  };
  /** Raw webhook payloads from PayPal. A job purges the text after its retention period. */
  payment_events: {
    id: string;
    type: string;
    raw: string;
    received_at: Timestamp;
    processed_at: Date | null;
  };
  /** Append-only ledger of captures, fees, refunds and reversals. */
  payment_ledger: {
    payment_id: string;
    id: GeneratedByDatabase<number>;
    kind: 'capture' | 'fee' | 'refund' | 'reversal';
    amount_minor: number;
    currency: string;
    provider_ref: string;
    booked_at: Timestamp;
  };
  /** Append-only usage log; the refund rule reads it. */
  plan_uses: {
    user_id: string;
    id: GeneratedByDatabase<number>;
    kind: 'export' | 'analysis';
    used_at: Timestamp;
  };
  /** The coach's answers. Append-only; deleted with the account or with the day. */
  analyses: {
    user_id: string;
    id: Generated<string>;
    kind: AnalysisKind;
    /** Set for kind `feedback`. */
    date: Day | null;
    /** Set for kind `trend`. */
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
    /**
     * `cited`: indexes of the log's lines that the feedback cites. `cited_refs`: their labels in the feedback, null before
     * prompt version 4.
     */
    cited: Generated<number[]>;
    cited_refs: string[] | null;
    missing_fact: string | null;
    created_at: Timestamp;
  };
  /** Leases of running analyses, and the number of tries on the UTC day `counted_on`. */
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
  /** The undo of an import: the version that the import left behind on each day. */
  import_days: {
    user_id: string;
    import_id: string;
    date: Day;
    entry_id: string;
    revision: number;
    change: 'added' | 'filled' | 'replaced' | 'feedback';
    earlier_coach: unknown;
    written_at: Timestamp;
  };
  plan_reminders: {
    user_id: string;
    access_valid_until: Day;
    days_before: number;
    mailed_at: Timestamp;
  };
};
