/** What an empty log looks like; apart from the editor, because it is painted before the editor has arrived. */
export const EMPTY_LOG_HTML = '<ol><li><p></p></li></ol>';
