/** Removes every copy that this browser's storage has of a user who signed out. */
import { FIRST_LINE_KEY, TYPED_ADDRESS_KEY } from './storage-keys.ts';

/** Keys of one user's data name that user. What is left, theme and font, are choices for this browser (docs/specification/product.md 5). */
export function wipeUserData(userId: string): void {
  for (const key of Object.keys(localStorage)) if (key.includes(userId)) localStorage.removeItem(key);
  // Threat: what one person typed is shown to the next, and begins their journal.
  localStorage.removeItem(FIRST_LINE_KEY);
  sessionStorage.removeItem(TYPED_ADDRESS_KEY);
}
