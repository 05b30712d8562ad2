/** Scenes of accounts: the ways to sign in, the second step, and the profile's sections on devices and deletion. */
import { randomUUID } from 'node:crypto';
import type { Page } from '@playwright/test';
import { ROUTES } from '#domain/routes.ts';
import { signUp } from '../accounts.ts';
import {
  addApp,
  button,
  endSession,
  enterPassword,
  heading,
  PASSWORD,
  signInAsNewAccount,
  startApp,
} from '../new-account.ts';
import type { Scene } from '../scene.ts';

async function requestCode(page: Page): Promise<void> {
  await button(page, 'Email me a code').click();
  await heading(page, 'Sign in with a code').waitFor();
  await page.getByLabel('Email address').fill('pat@example.com');
}

const openDeletion = async (page: Page): Promise<void> => {
  await button(page, 'Delete account').click();
  await page.getByRole('dialog', { name: 'Take your logs with you' }).waitFor();
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
      await heading(page, 'Sign in with Google').waitFor();
      await page.getByLabel('Email address').fill(`${randomUUID()}@example.com`);
      await button(page, 'Continue with this address').click();
      await endSession(page);
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
      await enterPassword(page, email);
      await page.waitForURL((url) => url.pathname !== ROUTES.login.path);
      await addApp(page);
      await page.evaluate(() => localStorage.clear());
      await enterPassword(page, email);
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
      await enterPassword(page, email);
      await page.waitForURL((url) => url.pathname !== ROUTES.login.path);
      await addApp(page);
      const code = await page.getByRole('list', { name: 'Recovery codes' }).getByRole('listitem').first().innerText();
      await page.evaluate(() => localStorage.clear());
      await enterPassword(page, email);
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
