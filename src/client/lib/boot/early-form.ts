/**
 * The form of a page's frame (app/page-frames.tsx) takes keys before the app's code has loaded. The app's own form then
 * takes over its values, the caret and a submit.
 */

export const PAGE_FRAME_ID = 'page-frame';

const SUBMITTED = 'aria-busy';

/** Holds a submit until the app's form can send it. Threat: the browser's own submit puts a password into the URL. */
export function holdEarlySubmit(): void {
  document.addEventListener('submit', (event) => {
    const form = event.target as HTMLFormElement;
    if (!form.closest(`#${PAGE_FRAME_ID}`)) return;
    event.preventDefault();
    form.setAttribute(SUBMITTED, 'true');
  });
}

/** Removes the frame, and hands its values, caret and submit to the app's form, which must be in the document. */
export function leaveFrame(frame: Element): void {
  const fields = [...frame.querySelectorAll('input')];
  const focused = fields.find((field) => field === document.activeElement);
  const { selectionStart = null, selectionEnd = null } = focused ?? {};
  const wasSubmitted = frame.querySelector(`form[${SUBMITTED}]`) !== null;
  frame.remove();
  const replacementOf = ({ name }: HTMLInputElement) =>
    document.querySelector<HTMLInputElement>(`#root form input[name="${name}"]`);
  for (const early of fields) {
    const field = replacementOf(early);
    if (!field) continue;
    if (early.checked !== field.checked) field.click();
    if (early.type === 'checkbox' || early.value === '') continue;
    field.value = early.value;
    // React runs the field's `onInput` and `onBlur`, which tidies an address.
    for (const type of ['input', 'focusout']) field.dispatchEvent(new Event(type, { bubbles: true }));
  }
  const target = focused && replacementOf(focused);
  target?.focus();
  // Null for an email address, whose caret is at the end.
  if (selectionStart !== null) target?.setSelectionRange(selectionStart, selectionEnd);
  // React has to render the values first.
  if (wasSubmitted) setTimeout(() => fields[0] && replacementOf(fields[0])?.form?.requestSubmit());
}
