import type { MergeDoubt } from './merge-logs.ts';

/** Says which lines the merge of two versions of a day kept twice, or kept although one version deleted them. */
export function mergeMessage(doubts: readonly Pick<MergeDoubt, 'kind'>[]): string {
  const count = (kind: MergeDoubt['kind']): number => doubts.filter((doubt) => doubt.kind === kind).length;
  const [twice, deleted] = [count('editedTwice'), count('editedAndDeleted')];
  return [
    twice === 1 && 'A line was edited here and somewhere else. Both versions are kept, one below the other.',
    twice > 1 &&
      `${twice} lines were edited here and somewhere else. Both versions of each are kept, one below the other.`,
    deleted === 1 && 'A line was edited on one device and deleted on another. The edited line is kept.',
    deleted > 1 && `${deleted} lines were edited on one device and deleted on another. The edited lines are kept.`,
  ]
    .filter(Boolean)
    .join(' ');
}
