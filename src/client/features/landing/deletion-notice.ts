/** Says on the landing page when the account is deleted, in the tab that asked for it, and offers to undo it. */
import { DELETION_KEY } from '#client/lib/session/storage-keys.ts';
import { clockTime } from '#domain/day/clock-time.ts';
import type { ClientConfig } from '#domain/client-config.ts';
import { ROUTES } from '#domain/routes.ts';

type Deletion = { deletion_due_at: string; undo_token: string };

/** `box` is a live region of the prerendered page. */
export function showDeletionNotice(box: HTMLElement): void {
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
  const { ok, status } = await fetch(`${apiUrl || location.origin}/auth/v1/account/undo-deletion`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ token_hash: token }),
  });
  if (!ok && status !== 403) throw new Error(`undoing the deletion failed with ${status}`);
  return ok;
}
