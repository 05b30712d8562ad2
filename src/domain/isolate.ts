/**
 * Isolates the user's text within our sentence where `<bdi>` is not possible. A right-to-left name would otherwise
 * reorder the words and punctuation around it. First-strong isolate and pop directional isolate (Unicode UAX #9).
 */
export const isolate = (text: string): string => `\u2068${text}\u2069`;

/** Letters of right-to-left scripts. */
export const RIGHT_TO_LEFT = /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc\u{10800}-\u{10fff}\u{1e800}-\u{1efff}]/u;

/** Isolates only right-to-left text, because some old mail programs show the control characters. */
export const isolateRightToLeft = (text: string): string => (RIGHT_TO_LEFT.test(text) ? isolate(text) : text);
