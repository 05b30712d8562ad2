export type Span = { top: number; bottom: number };

/** About three lines of a log. */
const MAX_MARGIN_PX = 80;

/**
 * Returns the pixels to scroll down, or up when negative, so that the caret's line has a margin; 0 if it has one.
 * `visible` is the part of the window that no bar and no on-screen keyboard covers. The margin shrinks with `visible`,
 * because a phone in landscape shows only a few lines.
 */
export function scrollForCaret(line: Span, visible: Span): number {
  const spare = visible.bottom - visible.top - (line.bottom - line.top);
  const margin = Math.min(MAX_MARGIN_PX, Math.max(0, spare / 6));
  const below = line.bottom - visible.bottom + margin;
  const above = line.top - visible.top - margin;
  // The lower edge takes precedence: in a line that does not fit, the typed text is at the bottom.
  if (below > 0 || spare < 0) return Math.round(below);
  return above < 0 ? Math.round(above) : 0;
}
