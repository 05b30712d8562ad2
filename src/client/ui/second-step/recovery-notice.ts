/** The toast after the use of a recovery code: how many codes are left, and a link to get new ones or add a factor. */
import { ROUTES } from '#domain/routes.ts';
import type { Toast } from '../toast.tsx';

/** The hash of the profile page's URL that opens its section on two-step verification. */
export const TWO_STEP_HASH = '#two-step';

/** The hash that unfolds the profile page's section on security. */
export const SECURITY_HASH = '#security';

/** With this many codes left or fewer, the toast suggests new ones. */
const FEW_CODES = 3;

/** `hasLink` is false on pages that the user must not leave, such as a password reset. */
export function recoveryNotice(remaining: number, hasLink: boolean): Toast {
  const href = `${ROUTES.profile.path}${TWO_STEP_HASH}`;
  const label = remaining <= FEW_CODES ? 'Get new codes' : 'Two-step verification';
  return { kind: 'info', text: textFor(remaining), ...(hasLink && { link: { label, href } }) };
}

function textFor(remaining: number): string {
  if (remaining === 0) return 'That was your last recovery code. Get new ones now, or a lost app or key locks you out.';
  if (remaining === 1) return 'You used a recovery code. Only one is left. Get new ones soon.';
  if (remaining <= FEW_CODES) return `You used a recovery code. Only ${remaining} are left. Get new ones soon.`;
  return `You used a recovery code. ${remaining} are left. If you lost your app or key, set up another one.`;
}
