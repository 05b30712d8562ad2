/**
 * Stores the line typed under the headline; it becomes the first line of the first log after sign-up. After a user has
 * requested the deletion of an account, says when the account will be deleted.
 */
import { ROUTES } from '#domain/routes.ts';
import { ignoreCandidateKeys } from '#client/lib/keys.ts';
import { FIRST_LINE_KEY, DELETION_KEY } from '#client/lib/session/storage-keys.ts';
import '#client/ui/page/brand.module.css';
import '#client/ui/button.module.css';
import '#client/ui/coach-sample.module.css';
import './landing-page.module.css';
import { clockTime } from '#domain/day/clock-time.ts';
import type { ClientConfig } from '#domain/client-config.ts';

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

// Says on the landing page when the account is deleted, in the tab that asked for it, and offers to undo it.

type Deletion = { deletion_due_at: string; undo_token: string };

/** `box` is a live region of the prerendered page. */
function showDeletionNotice(box: HTMLElement): void {
  const deletion = readDeletion();
  if (!deletion) return;
  const dueAt = new Date(deletion.deletion_due_at);
  if (!(dueAt.getTime() > Date.now())) return sessionStorage.removeItem(DELETION_KEY);

  const undo = document.createElement('button');
  undo.type = 'button';
  undo.textContent = 'Undo';
  undo.addEventListener('click', () => {
    if (undo.ariaDisabled === 'true') return;
    undo.ariaDisabled = 'true';
    void undoDeletion(deletion.undo_token).then(
      (isUndone) => {
        sessionStorage.removeItem(DELETION_KEY);
        showMessage(
          box,
          isUndone
            ? 'Your account stays, with every log in it.'
            : 'This can no longer be undone here. Signing in may keep your account.',
          signInLink(),
        );
      },
      () => {
        undo.ariaDisabled = null;
        showMessage(box, 'The server could not be reached. Your account is still marked for deletion.', undo);
      },
    );
  });
  showMessage(box, `Your account will be deleted at ${clockTime(dueAt)}.`, undo);
}

function readDeletion(): Deletion | null {
  try {
    return JSON.parse(sessionStorage.getItem(DELETION_KEY) ?? 'null') as Deletion | null;
  } catch {
    return null;
  }
}

function showMessage(box: HTMLElement, text: string, action: HTMLElement): void {
  // Removing the focused button would move the focus to the start of the page.
  const hadFocus = box.contains(document.activeElement);
  box.replaceChildren(text, ' ', action);
  if (hadFocus) action.focus();
}

function signInLink(): HTMLElement {
  const link = document.createElement('a');
  link.href = ROUTES.login.path;
  link.textContent = 'Sign in';
  return link;
}

/** Returns false if the token is no longer valid (403). Throws for any other failure. */
async function undoDeletion(token: string): Promise<boolean> {
  const json = document.querySelector<HTMLMetaElement>('meta[name="hustle-forge-config"]')?.content ?? '{}';
  const { apiUrl = '' } = JSON.parse(json) as Partial<ClientConfig>;
  const answer = await fetch(`${apiUrl || location.origin}/auth/v1/account/undo-deletion`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ token_hash: token }),
  });
  // Throws if the answer is not JSON, such as the error page of a proxy: it does not say whether the undo succeeded.
  await answer.json();
  const { ok, status } = answer;
  if (!ok && status !== 403) throw new Error(`undoing the deletion failed with ${status}`);
  return ok;
}
