/**
 * Appends a connected element to another parent in the same document and restores the focus and the selection inside it.
 */
export function moveKeepingCaret(element: HTMLElement, parent: HTMLElement): void {
  const selection = getSelection();
  const { anchorNode, anchorOffset = 0, focusNode, focusOffset = 0 } = selection ?? {};
  const hasFocus = element.contains(document.activeElement);
  // `moveBefore` keeps the focus, so that a phone's keyboard stays open; not every browser has it. Every move resets the
  // selection.
  const { moveBefore }: Partial<HTMLElement> = parent;
  if (moveBefore) moveBefore.call(parent, element, null);
  else parent.append(element);
  if (hasFocus && !element.contains(document.activeElement)) element.focus({ preventScroll: true });
  if (anchorNode && focusNode && element.contains(anchorNode) && element.contains(focusNode))
    selection!.setBaseAndExtent(anchorNode, anchorOffset, focusNode, focusOffset);
}
