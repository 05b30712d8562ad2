/** A step of the panel. With `codes`, the recovery codes wait to be kept. */
export type TwoStepView =
  | 'list'
  | 'addApp'
  | 'addPhone'
  | 'addKey'
  | { codes: readonly string[]; isFirstFactor: boolean };
