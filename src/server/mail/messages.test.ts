import { expect, test } from 'vitest';
import { letter } from './letter.ts';
import * as messages from './messages.ts';

const given = {
  to: 'a@example.com',
  newEmail: 'b@example.com',
  link: 'https://journal.example.com/login?token_hash=abc-123456_x&type=signup',
  loginLink: 'https://journal.example.com/login',
  resetLink: 'https://journal.example.com/forgot-password',
  code: '042117',
  contact: 'help@example.com',
};

test.each(Object.entries(messages))('%s says the same in text and in HTML, in our voice', (_name, write) => {
  const { to, subject, text, html } = write(given);
  expect(to).toBe(given.to);
  for (const words of [subject, text, html.replace('<!doctype html>', '')]) expect(words).not.toContain('!');
  expect(html).toContain(`<h1`);
  expect(html).not.toMatch(/<(script|img|link|iframe)/);
  for (const [, label] of html.matchAll(/<a href="([^"]+)"/g)) expect(text).toContain(label!.replaceAll('&amp;', '&'));
  expect(html.includes(given.code)).toBe(text.split('\n').includes(given.code));
});

test('nothing in a letter can become markup', () => {
  const { html } = letter('a@example.com', '<b>', [
    '<script>alert(1)</script>',
    { link: 'https://x.example/"onclick="', label: '&' },
  ]);
  expect(html).not.toMatch(/<script|<b>|"onclick="/);
});
