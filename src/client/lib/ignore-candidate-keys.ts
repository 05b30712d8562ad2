/**
 * Keeps keys that an input method handles from submitting a field. Enter accepts a candidate, arrows and Escape browse the
 * candidates. Safari ends the composition before it sends the key, so only its code, 229, tells that an input method had it.
 * The editor is exempt: ProseMirror knows compositions, and must see these keys to recognise the user's next Enter.
 */
export function ignoreCandidateKeys(): void {
  addEventListener('keydown', ignoreCandidateKey, { capture: true });
}

const INPUT_METHOD_KEY_CODE = 229;

function ignoreCandidateKey(event: KeyboardEvent): void {
  const isField = event.target instanceof HTMLInputElement || event.target instanceof HTMLTextAreaElement;
  if (!isField || !(event.isComposing || event.keyCode === INPUT_METHOD_KEY_CODE)) return;
  event.stopImmediatePropagation();
  // The browser itself submits a form.
  if (event.key === 'Enter') event.preventDefault();
}
