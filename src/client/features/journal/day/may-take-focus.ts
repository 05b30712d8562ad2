/** True with a mouse, if no control has the focus. On a phone the focus would open the keyboard over the page. */
export function mayTakeFocus(): boolean {
  const { activeElement, body } = document;
  const isFree = activeElement === null || activeElement === body || activeElement.matches('h1[tabindex="-1"]');
  return isFree && matchMedia('(pointer: fine)').matches;
}
