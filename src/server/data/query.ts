/** A parsed request of the data API: the output of `parse-*` and the input of `to-sql`. All names are allow-listed. */
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

/** In rows; `limit` null means no limit. */
export type Range = { offset: number; limit: number | null };

export type Query = {
  /** The selected columns, each once, in the requested order. */
  select: readonly Column[];
  /** Joined by AND. */
  where: readonly Condition[];
  order: readonly Order[];
  range: Range;
  /** `columns=`: the columns that a write sets, regardless of the rows' keys. */
  columns: readonly Column[] | null;
  onConflict: readonly Column[] | null;
};

export type Preferences = {
  /** Return the written rows. */
  representation: boolean;
  /** Return the address of the first written row. */
  location: boolean;
  /** Return the total number of rows. */
  count: boolean;
  resolution: 'merge' | 'ignore' | null;
  missingIsDefault: boolean;
  /** Leave fields without a value out of the rows. The media type says so. */
  omitsNulls: boolean;
  /** The value of `Preference-Applied`. */
  applied: readonly string[];
};

export type Scalar = string | number | boolean | null;
/** Undefined: the column's default. Only for a column that has one. */
export type WrittenValue = Scalar | undefined;
/** The rows of a write: the columns it sets, and per row their values in the same order. */
export type Rows = { columns: readonly Column[]; rows: readonly (readonly WrittenValue[])[] };
