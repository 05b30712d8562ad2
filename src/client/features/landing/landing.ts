/** The landing page's one piece of behaviour: the line under the headline is kept and becomes the first log. */
import '#client/ui/page/brand.module.css';
import '#client/ui/button.module.css';
import { FIRST_LINE_KEY } from '#client/lib/session/storage-keys.ts';
import { ROUTES } from '#domain/routes.ts';
import './landing.module.css';

const line = document.querySelector<HTMLTextAreaElement>('#first-line')!;
const kept = document.querySelector<HTMLElement>('#kept')!;

/** What a browser without storage keeps: nothing, so nothing is promised. */
function keep(text: string): boolean {
  try {
    if (text.trim() === '') localStorage.removeItem(FIRST_LINE_KEY);
    else localStorage.setItem(FIRST_LINE_KEY, text);
    return text.trim() !== '';
  } catch {
    return false;
  }
}

function say(isKept: boolean): void {
  const text = isKept ? 'Kept for your first log.' : '';
  if (kept.textContent !== text) kept.textContent = text;
}

try {
  // What was typed before this script arrived wins over what an earlier visit left.
  if (line.value === '') line.value = localStorage.getItem(FIRST_LINE_KEY) ?? '';
  say(line.value !== '');
} catch {
  // No storage: the line is still there to write on.
}

line.addEventListener('input', () => say(keep(line.value)));
line.addEventListener('keydown', (event) => {
  // One line is one thing done: Enter goes on instead of breaking it.
  if (event.key !== 'Enter' || event.isComposing) return;
  event.preventDefault();
  keep(line.value);
  location.assign(ROUTES.signup.path);
});
