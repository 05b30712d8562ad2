/** The nodes of an `explain (format json)` output that read or write a table. */

export type PlanNode = {
  'Node Type': string;
  Plans?: PlanNode[];
  'Relation Name'?: string;
  [property: string]: unknown;
};

export function* nodesOf(plan: PlanNode): Generator<PlanNode> {
  yield plan;
  for (const child of plan.Plans ?? []) yield* nodesOf(child);
}

/** `entries_p03` is a partition of `entries` (partition-tables.ts). */
export const PARTITION_SUFFIX = /_p\d+$/;

export const tableOf = (node: PlanNode): string | undefined => node['Relation Name']?.replace(PARTITION_SUFFIX, '');

const CONDITIONS = ['Index Cond', 'Recheck Cond', 'Filter'] as const;

/** The conditions that a scan applies to the rows of its own table. */
export const conditionsOf = (node: PlanNode): string =>
  CONDITIONS.map((name) => node[name])
    .filter((condition) => typeof condition === 'string')
    .join(' ');
