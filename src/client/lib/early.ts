/**
 * Runs before the first paint, on every page: sets theme and font so that nothing flashes, and sends somebody who is
 * signed in from the landing page to the journal before a word of it is drawn.
 */
import type { ClientConfig } from '#domain/client-config.ts';
import { applyEditorFont, applyTheme, followTheme } from './preferences.ts';
import { sessionStorageKey } from './storage-keys.ts';

applyTheme();
applyEditorFont();
// Kept up for as long as the page lives, on pages without any other script as well.
followTheme(() => undefined);

const onLanding = document.documentElement.dataset['page'] === 'landing';
if (onLanding && hasStoredSession()) location.replace('/journal');

function hasStoredSession(): boolean {
  try {
    const written = document.querySelector<HTMLMetaElement>('meta[name="hustle-forge-config"]')?.content;
    const apiUrl = (written ? (JSON.parse(written) as ClientConfig).apiUrl : '') || location.origin;
    return localStorage.getItem(sessionStorageKey(apiUrl)) !== null;
  } catch {
    return false;
  }
}
