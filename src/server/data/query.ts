/** A request of the data wire, understood: what `parse-*` makes and `to-sql` reads. Names in it are allow-listed. */
import type { Column } from './exposed-tables.ts';

export type Comparison = 'eq' | 'neq' | 'gt' | 'gte' | 'lt' | 'lte' | 'like' | 'ilike' | 'isdistinct';
export type Truth = 'null' | 'not_null' | 'true' | 'false' | 'unknown';

export type Condition =
  | { kind: 'compare'; column: Column; operator: Comparison; negated: boolean; value: string }
  | {
      kind: 'each';
      column: Column;
      operator: Comparison;
      of: 'any' | 'all';
      negated: boolean;
      values: readonly string[];
    }
  | { kind: 'is'; column: Column; negated: boolean; value: Truth }
  | { kind: 'group'; joined: 'and' | 'or'; negated: boolean; conditions: readonly Condition[] };

export type Order = { column: Column; descending: boolean; nulls: 'first' | 'last' | null };

/** null for `limit` means all; both count rows. */
export type Range = { offset: number; limit: number | null };

export type Query = {
  /** The columns asked for, each once, in the order asked. */
  select: readonly Column[];
  /** All of them must hold. */
  where: readonly Condition[];
  order: readonly Order[];
  range: Range;
  /** `columns=`: what an insert writes, whatever keys its rows have. */
  columns: readonly Column[] | null;
  onConflict: readonly Column[] | null;
};

export type Preferences = {
  /** The rows come back; otherwise only how many there were. */
  representation: boolean;
  /** How many rows there are in all. */
  count: boolean;
  resolution: 'merge' | 'ignore' | null;
  missingIsDefault: boolean;
  /** What to say in `Preference-Applied`. */
  applied: readonly string[];
};

/** What a write carries: the columns it sets, and for each row their values in the same order. */
export type Scalar = string | number | boolean | null;
export type Rows = { columns: readonly Column[]; rows: readonly (readonly Scalar[])[] };
