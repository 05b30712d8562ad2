/** Takes out of a text what a reader cannot see and a model can: such characters are where hidden instructions stand. */

/**
 * Control and format characters (zero-width, marks of direction, tags) but tab and line feed, and but the two joiners,
 * which Persian and family emoji are made of.
 */
const UNSEEN = /[[\p{Cc}\p{Cf}]--[\t\n\u200c\u200d]]/gv;

export const plainWords = (text: string): string => text.toWellFormed().replaceAll(UNSEEN, '');
