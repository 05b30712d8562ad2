/**
 * Takes out of a text what a reader cannot see and a model or a screen can: such characters are where hidden
 * instructions stand, and what turns a line around. Nothing reaches a model or the coach's place without it.
 */

/**
 * Control and format characters (zero-width, marks of direction, tags), separators of lines that are no line feed, fillers
 * and selectors of variants, but tab and line feed, and but what Persian, Mongolian and emoji are made of: the two joiners and a few selectors.
 */
const UNSEEN = /[[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{DI}]--[\t\n\p{Join_C}[\u180b-\u180f][\ufe0e-\ufe0f]]]/gv;

export const plainWords = (text: string): string => text.toWellFormed().replaceAll(UNSEEN, '');
