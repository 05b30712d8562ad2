/** The tables of the schema `public` as Kysely sees them (`database/migrations/app`). */
import type { ColumnType, Generated } from 'kysely';

import type { Day } from '#domain/day.ts';
import type { PlanId } from '#domain/plan.ts';

/** Read, never written. */
type GeneratedByDatabase<T> = ColumnType<T, never, never>;
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
  /** One row for every change of a plan; rows are only ever added. */
  plan_changes: {
    user_id: string;
    id: GeneratedByDatabase<number>;
    plan: PlanId;
    access_valid_until: Day | null;
    /** What brought the change about, e.g. `operator grant`, `payment`, `expiry`. */
    reason: string;
    changed_at: Timestamp;
  };
};
