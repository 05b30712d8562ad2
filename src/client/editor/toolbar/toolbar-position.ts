/** Where the floating toolbar goes: above the selection, below it where there is no room, never over it. */
export type Box = { left: number; top: number; right: number; bottom: number };
type Size = { width: number; height: number };

const GAP = 8;
const MARGIN = 8;

/** All in CSS pixels of the viewport. `ceiling` is how much of its top the bar covers. */
export function positionToolbar(
  selection: Box,
  toolbar: Size,
  viewport: Size,
  ceiling: number,
): { left: number; top: number } {
  const middle = (selection.left + selection.right) / 2 - toolbar.width / 2;
  const left = Math.max(MARGIN, Math.min(middle, viewport.width - toolbar.width - MARGIN));
  const above = selection.top - toolbar.height - GAP;
  const below = selection.bottom + GAP;
  if (above >= ceiling) return { left, top: above };
  if (below + toolbar.height <= viewport.height - MARGIN) return { left, top: below };
  // The selection fills the page: there is no place beside it, so the toolbar stays in reach at the top.
  return { left, top: Math.max(ceiling, Math.min(above, viewport.height - toolbar.height - MARGIN)) };
}
