/** The HTML of an empty log. In a separate module, because it is shown before the editor has loaded. */
export const EMPTY_LOG_HTML = '<ol><li><p></p></li></ol>';
