/** The page on which the visitor chooses an account, and the choice it posts. */
import { escapeHtml, renderSandboxPage } from '../page.ts';
import { createHash } from 'node:crypto';

const stamp = (provider: string): string => `<p class="stamp">${provider} sandbox: these accounts exist only here</p>`;

type ConsentOptions = {
  accounts?: readonly IdentityAccount[];
  /** The provider states for each address whether it is verified, so the form has a check box for it. */
  hasVerifiedFlag?: boolean;
};

/** The forms have no `action`, so they post to the page's own URL, whose query is the authorization request. */
export function consentPage(
  provider: string,
  { accounts = ACCOUNTS, hasVerifiedFlag = true }: ConsentOptions = {},
): string {
  const name = escapeHtml(provider);
  const buttons = accounts.map(({ email, verified }, index) => {
    const note = verified ? '' : ', not verified';
    const primary = index === 0 ? ' class="primary"' : '';
    return `<button name="account" value="${escapeHtml(email)}"${primary}>${escapeHtml(email)}${note}</button>`;
  });
  const received = hasVerifiedFlag
    ? `your name, your email address and whether ${name} has verified it`
    : 'your name and your email address';
  const checkbox = `<label class="check"><input name="verified" type="checkbox" value="on" checked> ${name} has verified this address</label>\n`;
  return renderSandboxPage(
    `Sign in with ${provider}`,
    `${stamp(name)}
<p>Hustle Forge will receive ${received}.</p>
<form method="post" class="choices">
${buttons.join('\n')}
</form>
<h2>Another account</h2>
<form method="post" class="choices">
<label>Email address <input name="email" type="email" autocomplete="off" required></label>
${hasVerifiedFlag ? checkbox : ''}<button>Continue with this address</button>
</form>
<form method="post" class="choices">
<button name="deny" value="on" class="text">Deny access</button>
</form>`,
  );
}

/** Shown instead of a redirect for a request that `parseAuthorizationRequest` does not accept. */
export const invalidRequestPage = (provider: string, problem: string): string =>
  renderSandboxPage(`${provider} cannot sign you in`, `${stamp(escapeHtml(provider))}\n<p>${escapeHtml(problem)}</p>`);

export type Choice = { account: IdentityAccount } | 'denied' | null;

/** Null if the form is incomplete. */
export function readChoice(form: URLSearchParams, accounts: readonly IdentityAccount[] = ACCOUNTS): Choice {
  if (form.has('deny')) return 'denied';
  const chosen = accounts.find((account) => account.email === form.get('account'));
  if (chosen) return { account: chosen };
  const email = (form.get('email') ?? '').trim();
  return email.includes('@') ? { account: accountFor(email, form.has('verified')) } : null;
}

export type IdentityAccount = { email: string; name: string; verified: boolean };

const ACCOUNTS: readonly IdentityAccount[] = [
  { email: 'ana@example.com', name: 'Ana Andersson', verified: true },
  { email: 'ben@example.com', name: 'Ben Baker', verified: false },
];

/** The account of an address that the visitor typed. */
function accountFor(email: string, verified: boolean): IdentityAccount {
  const known = ACCOUNTS.find((account) => account.email === email);
  return { email, name: known?.name ?? email.replace(/@.*$/, ''), verified };
}

/** Stable per address, because the product stores ids beyond the lifetime of the simulator. Below 2^48. */
export const numericId = (email: string): number => createHash('sha256').update(email).digest().readUIntBE(0, 6);
