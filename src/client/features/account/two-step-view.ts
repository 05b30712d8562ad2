/** A step of the panel. With `codes`, it shows new recovery codes until the user confirms to have kept them. */
export type TwoStepView =
  | 'list'
  | 'addApp'
  | 'addPhone'
  | 'addKey'
  | { codes: readonly string[]; isFirstFactor: boolean };
