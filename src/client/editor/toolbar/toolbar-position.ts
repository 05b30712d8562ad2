/** Positions the floating toolbar above the selection, or below it if there is no room above. */
export type Box = { left: number; top: number; right: number; bottom: number };
type Size = { width: number; height: number };

const GAP_PX = 8;
const MARGIN_PX = 8;

/** All values in CSS pixels of the viewport. `topBarPx`: the height of the day bar, which covers the viewport's top. */
export function positionToolbar(
  selection: Box,
  toolbar: Size,
  viewport: Size,
  topBarPx: number,
): { left: number; top: number } {
  const middle = (selection.left + selection.right) / 2 - toolbar.width / 2;
  const left = Math.max(MARGIN_PX, Math.min(middle, viewport.width - toolbar.width - MARGIN_PX));
  const above = selection.top - toolbar.height - GAP_PX;
  const below = selection.bottom + GAP_PX;
  if (above >= topBarPx) return { left, top: above };
  if (below + toolbar.height <= viewport.height - MARGIN_PX) return { left, top: below };
  // The selection fills the window, so the toolbar overlaps it at the top.
  return { left, top: Math.max(topBarPx, Math.min(above, viewport.height - toolbar.height - MARGIN_PX)) };
}
