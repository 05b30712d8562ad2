/** Not in `plan.ts`, which the journal loads: only dialogs show this text, and it loads with them. */
export const LOCKED_DAY_MESSAGE = "Your plan doesn't include this day.";
