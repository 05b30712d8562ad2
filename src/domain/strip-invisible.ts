/**
 * Control and format characters (zero-width, bidirectional, tags), line and paragraph separators, fillers and variation
 * selectors. Keeps tab, line feed, and what Persian, Mongolian and emoji need: the two joiners and a few selectors.
 */
const INVISIBLE = /[[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{DI}]--[\t\n\p{Join_C}[\u180b-\u180f][\ufe0e-\ufe0f]]]/gv;

/**
 * Removes characters that users cannot see but models and browsers interpret. Threat: they hide instructions to the
 * model (prompt injection), or reverse the displayed text. The coach removes them from the logs that it sends to a
 * model, and from the replies.
 */
export const stripInvisible = (text: string): string => text.toWellFormed().replaceAll(INVISIBLE, '');
