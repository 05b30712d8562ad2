import { expect, test } from 'vitest';
import { day } from '#domain/day/day.ts';
import { renderEmail } from './email-template.ts';
import * as messages from './account-emails.ts';
import { digestMail } from './habit-emails.ts';
import * as paymentMessages from './payment-emails.ts';

const given = {
  to: 'a@example.com',
  newEmail: 'b@example.com',
  link: 'https://journal.example.com/login?token_hash=abc-123456_x&type=signup',
  loginLink: 'https://journal.example.com/login',
  undoLink: 'https://journal.example.com/auth/v1/account/undo-deletion?token_hash=abc-123456_x',
  resetLink: 'https://journal.example.com/forgot-password',
  hasPassword: true,
  securing: {
    words: 'reset your password, which signs out every other device',
    page: { link: 'https://journal.example.com/forgot-password', label: 'Reset your password' },
    services: 'Check your Google account as well, because it can sign you in.',
  },
  code: '042117',
  type: 'totp' as const,
  remaining: 3,
  remainingTypes: ['phone', 'webauthn', 'webauthn'] as const,
  contact: 'help@example.com',
  number: 'HF-2026-3F9A1C2B',
  amount: '$24.00 USD',
  paidOn: 'November 21, 2026',
  orderId: '5O190127TN364715T',
  validUntil: 'November 21, 2027',
  endsOn: 'November 21, 2027',
  receiptLink: 'https://journal.example.com/receipt?payment=3f9a1c2b-0000-4000-8000-000000000000',
  profileLink: 'https://journal.example.com/profile',
  settingsLink: 'https://journal.example.com/settings',
  label: 'Google',
  device: 'Firefox on Linux',
  at: '22 November 2026, 17:05 UTC',
};
const all = { ...messages, ...paymentMessages };

test.each(Object.entries(all))(
  '%s has the same content in text and HTML, without exclamation marks or active content',
  (_name, write) => {
    const { to, subject, text, html } = write(given);
    expect(to).toBe(given.to);
    for (const words of [subject, text, html.replace('<!doctype html>', '')]) expect(words).not.toContain('!');
    expect(html).toContain(`<h1`);
    expect(html).not.toMatch(/<(script|img|link|iframe)/);
    for (const [, link, label] of html.matchAll(/<a href="([^"]+)"[^>]*>([^<]+)</g)) {
      expect(text).toContain(link!.replaceAll('&amp;', '&'));
      // A bare address in a text says nothing of where it leads.
      expect(text).toContain(label!);
    }
    expect(html.includes(given.code)).toBe(text.split('\n').includes(given.code));
  },
);

test('receiptMail states item, amount, date, numbers, end date and the refund rule', () => {
  const { text, html } = paymentMessages.receiptMail(given);
  const facts = [given.number, 'Hustle Forge Closer, one year', given.amount, given.paidOn, given.orderId];
  for (const fact of [...facts, given.validUntil, '14 days', given.contact]) {
    expect(text).toContain(fact);
    expect(html).toContain(fact);
  }
  expect(text.split('\n')).toEqual(expect.arrayContaining([given.receiptLink, given.profileLink]));
  const endless = paymentMessages.receiptMail({ ...given, validUntil: null, contact: null });
  expect(endless.text).not.toMatch(/null|until/);
});

test('yearEndsMail states that nothing is deleted or renewed automatically', () => {
  const { subject, text } = paymentMessages.yearEndsMail(given);
  expect(subject).toBe('Your year ends on November 21, 2027');
  expect(text).toContain('Your plan does not renew automatically. Nothing will be deleted');
  expect(text.split('\n')).toContain(given.profileLink);
});

test('escapes every block of an email', () => {
  const { html } = renderEmail('a@example.com', '<b>', [
    '<script>alert(1)</script>',
    { link: 'https://x.example/"onclick="', label: '&' },
    { rows: [['<script>', '<b>']] },
  ]);
  expect(html).not.toMatch(/<script|<b>|"onclick="/);
});

test('factorRemovedMail names the removed factor and what remains', () => {
  const { subject, text } = messages.factorRemovedMail(given);
  expect(subject).toBe('An authenticator app was removed');
  expect(text).toContain('Two-step verification stays on, with a phone number and 2 security keys.');
  const last = messages.factorRemovedMail({ ...given, remainingTypes: [] });
  expect(last.subject).toBe('Two-step verification is off');
  expect(last.text).toContain('An authenticator app was removed. It was the last one');
});

test('a digest keeps words that run from right to left apart from their day', () => {
  const date = day('2026-11-24');
  const { text, html } = digestMail({
    to: given.to,
    unsubscribeLink: given.link,
    settingsLink: given.settingsLink,
    from: day('2026-11-23'),
    until: day('2026-11-27'),
    workdays: '4 of 5 workdays accounted for',
    scores: null,
    wins: [
      { date, text: 'סיימתי את החיוב של Acme' },
      { date, text: 'Shipped it' },
    ],
    hasWins: false,
    trend: null,
    review: null,
    link: given.link,
  });
  for (const body of [text, html]) {
    expect(body).toContain('Nov 24: \u2068סיימתי את החיוב של Acme\u2069');
    expect(body).toContain('Nov 24: Shipped it');
  }
});
