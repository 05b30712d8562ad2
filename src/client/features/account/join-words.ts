const LIST = new Intl.ListFormat('en', { type: 'conjunction' });

/** "Google and GitHub". */
export const joinWords = (words: readonly string[]): string => LIST.format(words);
