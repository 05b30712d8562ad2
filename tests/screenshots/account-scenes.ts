/** Scenes of accounts: the ways to sign in, the second step, and the profile's sections on devices and deletion. */
import { randomUUID } from 'node:crypto';
import type { Page } from '@playwright/test';
import { ROUTES } from '#domain/routes.ts';
import { signUp } from './accounts.ts';
import { button, endJournalSession, signInAs, heading, PASSWORD, signInAsNewAccount, type Scene } from './scene.ts';
import {
  addApp,
  addAuthenticator,
  consentAt,
  newNumber,
  startApp,
  waitForMailedCode,
  waitForTextedCode,
} from '../e2e/support/sign-in.ts';
import type { Product } from '../support/product.ts';

async function requestCode(page: Page): Promise<void> {
  await button(page, 'Email me a code').click();
  await heading(page, 'Sign in with a code').waitFor();
  await page.getByLabel('Email address').fill('pat@example.com');
}

const openDeletion = async (page: Page): Promise<void> => {
  await button(page, 'Delete account').click();
  await page.getByRole('dialog', { name: 'Take your logs with you' }).getByLabel('Your password').waitFor();
};

const openFinalStep = async (page: Page): Promise<void> => {
  await openDeletion(page);
  await button(page, 'Continue without a copy').click();
  await page.getByRole('dialog', { name: 'Delete your account' }).waitFor();
};

export const ACCOUNT_SCENES: readonly Scene[] = [
  {
    name: 'signup-confirm',
    as: 'guest',
    path: ROUTES.signup.path,
    prepare: async (page) => {
      const json = { id: randomUUID(), email: 'jo@example.com', confirmation_sent_at: new Date() };
      await page.route('**/auth/v1/signup*', (route) => route.fulfill({ json }));
      await page.getByLabel('Full name').fill('Jo Example');
      await page.getByLabel('Email address').fill('jo@example.com');
      await page.getByLabel('Password').fill(`${PASSWORD} battery`);
      await page.getByRole('checkbox').check();
      await button(page, 'Create account').click();
      await heading(page, 'Check your email').waitFor();
    },
  },
  {
    name: 'login-more',
    as: 'guest',
    path: ROUTES.login.path,
    prepare: (page) => page.getByText('More ways to sign in').click(),
  },
  {
    name: 'login-passkey-failed',
    as: 'guest',
    path: ROUTES.login.path,
    prepare: async (page) => {
      const json = { error_code: 'webauthn_challenge_expired', msg: '' };
      await page.route('**/passkeys/authentication/options', (route) => route.fulfill({ status: 400, json }));
      await button(page, 'Use a passkey').click();
      await page.getByText('That took too long. Try again.').waitFor();
    },
  },
  {
    name: 'session-ended-google',
    as: 'guest',
    path: ROUTES.login.path,
    prepare: async (page) => {
      await button(page, 'Continue with Google').click();
      await consentAt(page, 'Google', `${randomUUID()}@example.com`);
      await endJournalSession(page);
    },
  },
  { name: 'login-code', as: 'guest', path: ROUTES.login.path, prepare: requestCode },
  {
    name: 'login-code-sent',
    as: 'guest',
    path: ROUTES.login.path,
    prepare: async (page) => {
      await requestCode(page);
      await button(page, 'Email me a code').click();
      await heading(page, 'Check your email').waitFor();
    },
  },
  {
    name: 'login-link-expired',
    as: 'guest',
    path: '/#error=access_denied&error_code=otp_expired',
    prepare: (page) => heading(page, 'This link does not work').waitFor(),
  },
  {
    name: 'login-provider-denied',
    as: 'guest',
    path: ROUTES.login.path,
    prepare: async (page) => {
      await button(page, 'Continue with Google').click();
      await button(page, 'Deny access').click();
      await page.getByText('You did not finish signing in with Google.').waitFor();
    },
  },
  {
    name: 'login-wallet-asks',
    as: 'guest',
    path: ROUTES.login.path,
    prepare: async (page) => {
      await page.getByText('More ways to sign in').click();
      await button(page, 'Continue with a wallet').click();
      await button(page, 'Continue with Sandbox wallet (Ethereum)').click();
      await page.getByRole('dialog', { name: 'Sign this message?' }).waitFor();
    },
  },
  {
    name: 'second-step',
    as: 'guest',
    path: ROUTES.login.path,
    prepare: async (page, server) => {
      const email = `${randomUUID()}@example.com`;
      await signUp(server, 'Jo Example', email);
      await signInAs(page, email);
      await page.waitForURL((url) => url.pathname !== ROUTES.login.path);
      await page.goto(`${ROUTES.profile.path}#security`);
      await addApp(page);
      await page.evaluate(() => localStorage.clear());
      await signInAs(page, email);
      await heading(page, 'Two-step verification').waitFor();
    },
  },
  {
    name: 'recovery-code-used',
    as: 'guest',
    path: ROUTES.login.path,
    prepare: async (page, server) => {
      const email = `${randomUUID()}@example.com`;
      await signUp(server, 'Jo Example', email);
      await signInAs(page, email);
      await page.waitForURL((url) => url.pathname !== ROUTES.login.path);
      await page.goto(`${ROUTES.profile.path}#security`);
      await addApp(page);
      const code = await page.getByRole('list', { name: 'Recovery codes' }).getByRole('listitem').first().innerText();
      await page.evaluate(() => localStorage.clear());
      await signInAs(page, email);
      await button(page, 'Use a recovery code').click();
      await page.getByLabel('Recovery code').fill(code);
      await button(page, 'Continue').click();
      await page.getByText('You used a recovery code.').waitFor();
    },
  },
  {
    name: 'two-step-app',
    as: 'guest',
    path: ROUTES.login.path,
    fullPage: true,
    prepare: async (page, server) => {
      await signInAsNewAccount(page, server);
      await page.goto(`${ROUTES.profile.path}#security`);
      await startApp(page);
    },
  },
  {
    name: 'two-step-codes',
    as: 'guest',
    path: ROUTES.login.path,
    fullPage: true,
    prepare: async (page, server) => {
      await signInAsNewAccount(page, server);
      await page.goto(`${ROUTES.profile.path}#security`);
      await addApp(page);
    },
  },
  {
    name: 'deletion-undo',
    as: 'guest',
    path: '/auth/v1/account/undo-deletion?token_hash=unknown',
    prepare: (page) => heading(page, 'Keep your account?').waitFor(),
  },
  { name: 'deletion-archive', as: 'free', path: ROUTES.profile.path, prepare: openDeletion },
  { name: 'deletion-final', as: 'free', path: ROUTES.profile.path, prepare: openFinalStep },
  {
    name: 'deletion-pending',
    as: 'guest',
    path: ROUTES.login.path,
    prepare: async (page, server) => {
      await signInAsNewAccount(page, server);
      await page.goto(ROUTES.profile.path);
      await openFinalStep(page);
      await page.getByRole('dialog').getByLabel('Your password').fill(PASSWORD);
      await button(page, 'Delete my account').click();
      await page.getByText('Your account will be deleted at').waitFor();
    },
  },
];

type Prepare = (page: Page, server: Product) => Promise<unknown>;

/** Opens the profile of a new account, prepares it and scrolls to a section. */
const profileScene = (name: string, section: string, prepare: Prepare): Scene => ({
  name,
  as: 'guest',
  path: ROUTES.login.path,
  prepare: async (page, server) => {
    await signInAsNewAccount(page, server);
    await page.goto(`${ROUTES.profile.path}#security`);
    await prepare(page, server);
    await page
      .getByRole('heading', { name: section, exact: true })
      .evaluate((element) => element.scrollIntoView({ block: 'start' }));
    await page.evaluate(() => scrollBy(0, -24));
  },
});

const open = (section: string) => (page: Page) => button(page, new RegExp(`: ${section}$`)).click();

async function addPasskey(page: Page): Promise<void> {
  await addAuthenticator(page, { verifiesUser: true });
  await open('Passkeys')(page);
  await button(page, 'Add a passkey').click();
  await page.getByLabel('Name of this passkey').waitFor();
}

async function addPasskeyWithName(page: Page): Promise<void> {
  await addPasskey(page);
  await page.getByLabel('Name of this passkey').fill('Work laptop');
  await button(page, 'Save name').click();
  await button(page, 'Rename Work laptop').waitFor();
}

async function linkGoogle(page: Page): Promise<void> {
  await open('Linked sign-ins')(page);
  await button(page, 'Link Google').click();
  await consentAt(page, 'Google', `${randomUUID()}@example.com`);
  await page.waitForURL((url) => url.pathname === ROUTES.profile.path);
  await open('Linked sign-ins')(page);
}

/** Requests a texted code to a new number. Returns the number. */
async function requestTextedCode(page: Page): Promise<string> {
  await open('Phone number')(page);
  const phone = newNumber();
  await page.getByLabel('Phone number', { exact: true }).fill(phone);
  await button(page, 'Text me a code').click();
  await page.getByLabel('Code from your text message').waitFor();
  return phone;
}

async function addPhone(page: Page): Promise<void> {
  const phone = await requestTextedCode(page);
  await page.getByLabel('Code from your text message').fill(await waitForTextedCode(page, phone));
  await button(page, 'Confirm the number').click();
  await button(page, 'Change the number').waitFor();
}

/** Requests a change of the address. Returns the current address. */
async function changeAddress(page: Page): Promise<string> {
  const field = page.getByLabel('Email Address');
  const email = await field.inputValue();
  await field.fill(`jo-${randomUUID().slice(0, 8)}@example.org`);
  await button(page, 'Update Profile').click();
  await button(page, 'Cancel the change').waitFor();
  return email;
}

async function keepCodes(page: Page): Promise<void> {
  await addApp(page);
  await button(page, 'I have kept them').click();
  await page.getByText('10 of 10 left').waitFor();
}

export const PROFILE_SCENES: readonly Scene[] = [
  profileScene('profile-sections', 'Two-step verification', (page) => button(page, 'Set up: Passkeys').waitFor()),
  profileScene('profile-two-step-off', 'Two-step verification', open('Two-step verification')),
  profileScene('profile-two-step-on', 'Two-step verification', keepCodes),
  profileScene('profile-two-step-phone', 'Two-step verification', async (page) => {
    await open('Two-step verification')(page);
    await button(page, 'Use text messages').click();
    await page.getByLabel('Phone number', { exact: true }).fill('0151 234');
    await button(page, 'Text me a code').click();
    await page.getByText('Start with a plus sign').waitFor();
  }),
  profileScene('profile-two-step-key', 'Two-step verification', async (page) => {
    await open('Two-step verification')(page);
    await button(page, 'Use a security key').click();
  }),
  profileScene('profile-two-step-remove', 'Two-step verification', async (page) => {
    await keepCodes(page);
    await button(page, 'Remove Authenticator app').click();
  }),
  profileScene('profile-confirm', 'Passkeys', async (page) => {
    const json = { code: 'reauthentication_needed', message: '' };
    await page.route('**/passkeys/registration/options', (route) => route.fulfill({ status: 400, json }));
    await open('Passkeys')(page);
    await button(page, 'Add a passkey').click();
    await page.getByRole('dialog').getByLabel('Code from your email').waitFor();
  }),
  profileScene('profile-passkeys-none', 'Passkeys', open('Passkeys')),
  profileScene('profile-passkeys-failed', 'Passkeys', async (page) => {
    await page.route('**/auth/v1/passkeys', (route) => route.fulfill({ status: 400, json: {} }));
    await page.reload();
    await open('Passkeys')(page);
    await page.getByText("Couldn't load your passkeys.").waitFor();
  }),
  profileScene('profile-passkeys-name', 'Passkeys', addPasskey),
  profileScene('profile-passkeys', 'Passkeys', async (page) => {
    await addPasskeyWithName(page);
    await button(page, 'Add another passkey').click();
    await page.getByText('This device already has a passkey').waitFor();
  }),
  profileScene('profile-passkeys-remove', 'Passkeys', async (page) => {
    await addPasskeyWithName(page);
    await button(page, 'Remove Work laptop').click();
  }),
  profileScene('profile-phone-none', 'Phone number', open('Phone number')),
  profileScene('profile-phone-refused', 'Phone number', async (page) => {
    await open('Phone number')(page);
    await page.getByLabel('Phone number', { exact: true }).fill('+15005550001');
    await button(page, 'Text me a code').click();
    await page.getByText("We couldn't text this number.").waitFor();
  }),
  profileScene('profile-phone-code', 'Phone number', async (page) => {
    const phone = await requestTextedCode(page);
    const code = await waitForTextedCode(page, phone);
    await page.getByLabel('Code from your text message').fill(code === '000000' ? '000001' : '000000');
    await button(page, 'Confirm the number').click();
    await page.getByText('This code is wrong or has expired.').waitFor();
  }),
  profileScene('profile-phone-number', 'Phone number', addPhone),
  profileScene('profile-phone-change', 'Phone number', async (page) => {
    await addPhone(page);
    await button(page, 'Change the number').click();
  }),
  profileScene('profile-phone-remove', 'Phone number', async (page) => {
    await addPhone(page);
    await button(page, 'Remove the number').click();
  }),
  profileScene('profile-linked-one', 'Linked sign-ins', open('Linked sign-ins')),
  profileScene('profile-linked', 'Linked sign-ins', linkGoogle),
  profileScene('profile-linked-remove', 'Linked sign-ins', async (page) => {
    await linkGoogle(page);
    await button(page, 'Remove Google').click();
  }),
  profileScene('profile-devices', 'Where you are signed in', async (page) => {
    const email = await page.getByLabel('Email Address').inputValue();
    for (const system of [
      'X11; Linux x86_64; rv:143.0',
      'X11; Linux x86_64; rv:143.0',
      'iPhone; CPU iPhone OS 19_0 like Mac OS X',
    ]) {
      const headers = { 'User-Agent': `Mozilla/5.0 (${system}) Gecko/20100101 Firefox/143.0` };
      await page.request.post('/auth/v1/token?grant_type=password', { headers, data: { email, password: PASSWORD } });
    }
    await page.reload();
    await button(page, 'Sign out everywhere else').waitFor();
  }),
  profileScene('profile-address', 'Your details', changeAddress),
  profileScene('profile-address-half', 'Your details', async (page) => {
    const email = await changeAddress(page);
    const code = page.getByLabel(`Code sent to ${email}`);
    await code.fill(await waitForMailedCode(page, email));
    await code.press('Enter');
    await page.getByText(`Confirmed: ${email}`).waitFor();
  }),
  profileScene('profile-set-password', 'Your details', async (page) => {
    const json = { required_proof: 'none', has_password: false, address_change: null };
    await page.route('**/auth/v1/account', (route) => route.fulfill({ json }));
    await page.reload();
    await page.getByRole('group', { name: 'Set a password' }).waitFor();
  }),
];
