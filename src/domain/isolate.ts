/**
 * Isolates words of the user within a sentence of ours, where `<bdi>` is not possible: a right-to-left name would also
 * reorder the words and the punctuation around it. First-strong isolate and its end (Unicode UAX #9).
 */
export const isolate = (text: string): string => `\u2068${text}\u2069`;
