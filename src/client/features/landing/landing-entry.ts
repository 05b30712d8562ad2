/**
 * Stores the line typed under the headline; it becomes the first line of the first log after sign-up. After a user has
 * requested the deletion of an account, says when the account will be deleted.
 */
import { ROUTES } from '#domain/routes.ts';
import { ignoreCandidateKeys } from '#client/lib/keys.ts';
import { FIRST_LINE_KEY } from '#client/lib/session/storage-keys.ts';
import { showDeletionNotice } from './deletion-notice.ts';
import '#client/ui/page/brand.module.css';
import '#client/ui/button.module.css';
import '#client/ui/coach-sample.module.css';
import './landing-page.module.css';

/** Stores the text, or removes the stored line if the text is blank. Returns whether a text is stored. */
function saveFirstLine(text: string): boolean {
  try {
    if (text.trim() === '') localStorage.removeItem(FIRST_LINE_KEY);
    else localStorage.setItem(FIRST_LINE_KEY, text);
    return text.trim() !== '';
  } catch {
    return false;
  }
}

/** @param savedHint says below the line that the text is stored */
function rememberFirstLine(line: HTMLTextAreaElement, savedHint: HTMLElement): void {
  const showSavedHint = (isSaved: boolean): void => {
    const text = isSaved ? 'Saved for your first log.' : '';
    if (savedHint.textContent !== text) savedHint.textContent = text;
  };
  try {
    // Text typed before this script loaded takes precedence over a stored line.
    if (line.value === '') line.value = localStorage.getItem(FIRST_LINE_KEY) ?? '';
    showSavedHint(line.value !== '');
  } catch {
    // No storage: the line stays usable.
  }
  line.addEventListener('input', () => showSavedHint(saveFirstLine(line.value)));
  line.addEventListener('keydown', (event) => {
    // Enter continues to sign-up instead of adding a line break.
    if (event.key !== 'Enter') return;
    event.preventDefault();
    saveFirstLine(line.value);
    location.assign(ROUTES.signup.path);
  });
}

ignoreCandidateKeys();
const line = document.querySelector<HTMLTextAreaElement>('#first-line');
const savedHint = document.querySelector<HTMLElement>('#saved');
// The page has neither the line nor its hint on a server that creates no accounts.
if (line && savedHint) rememberFirstLine(line, savedHint);
showDeletionNotice(document.querySelector<HTMLElement>('#leaving')!);
