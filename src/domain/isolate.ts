/**
 * Isolates words of the user within a sentence of ours, where `<bdi>` is not possible: a right-to-left name would also
 * reorder the words and the punctuation around it. First-strong isolate and its end (Unicode UAX #9).
 */
export const isolate = (text: string): string => `\u2068${text}\u2069`;

/** Letters of scripts that run from right to left. */
export const RIGHT_TO_LEFT = /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]/u;

/** Isolates only words that can reorder others: some old mail programs show the marks. */
export const isolateRightToLeft = (text: string): string => (RIGHT_TO_LEFT.test(text) ? isolate(text) : text);
