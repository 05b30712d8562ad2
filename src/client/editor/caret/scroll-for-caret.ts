/** How far the page scrolls so that the caret's line has room around it. */
export type Span = { top: number; bottom: number };

/** About two lines. */
const MAX_MARGIN_PX = 80;

/**
 * Pixels to scroll down, or up when negative; 0 when the line has its margin already. `visible` is the part of the window
 * that no bar and no on-screen keyboard covers. The margin shrinks with it: a phone on its side shows only a few lines.
 */
export function scrollForCaret(line: Span, visible: Span): number {
  const spare = visible.bottom - visible.top - (line.bottom - line.top);
  const margin = Math.min(MAX_MARGIN_PX, Math.max(0, spare / 6));
  const below = line.bottom - visible.bottom + margin;
  const above = line.top - visible.top - margin;
  // The lower edge comes first: where the line does not fit, what is being typed is at its foot.
  if (below > 0 || spare < 0) return Math.round(below);
  return above < 0 ? Math.round(above) : 0;
}
