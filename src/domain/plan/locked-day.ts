/** A module of its own: it is loaded with the dialogs that show it, not with the journal. */
export const LOCKED_DAY = "Your plan doesn't include this day.";
