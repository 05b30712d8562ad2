/** What the prerendered pages say, as a server with and without a coach sends them. */
import type { ComponentType } from 'react';
import { expect, test } from 'vitest';
import { LandingPage } from '#client/features/landing/landing-page.tsx';
import { PrivacyPage } from '#client/features/legal/privacy-page.tsx';
import { TermsPage } from '#client/features/legal/terms-page.tsx';
import { showParts } from '#server/site/page-slots.ts';
import { markupOf } from './prerender.ts';

const textOf = (page: ComponentType, part: 'coach' | 'nocoach'): string =>
  showParts(markupOf(page), new Set([part]))
    .replaceAll(/<[^>]*>/g, '')
    .trim();

/** What only a coach gives. */
const SOLD = /AI feedback|AI-driven|HustleScore|Hustle Reviews|AI model|AI analyses|gets the text of log entries/;

test.each([LandingPage, PrivacyPage, TermsPage])('%o is sent without what a server without a coach lacks', (page) => {
  expect(textOf(page, 'coach')).toMatch(SOLD);
  const without = textOf(page, 'nocoach').replaceAll('the AI feedback and scores you asked for', '');
  expect(without).not.toMatch(SOLD);
  for (const part of ['coach', 'nocoach'] as const) {
    expect(textOf(page, part)).not.toMatch(/ {2}| [.,]|when:/);
  }
});

test('sentences read well either way', () => {
  expect(textOf(LandingPage, 'coach')).toContain('No AI feedback, no export');
  expect(textOf(LandingPage, 'nocoach')).toContain('No export');
  expect(textOf(TermsPage, 'nocoach')).toContain('opens every log, export, editor fonts');
  expect(textOf(TermsPage, 'nocoach')).toContain('Significantly used means one export since the payment.');
  expect(textOf(TermsPage, 'nocoach')).toContain('to store it, show it to you, and back it up.');
  expect(textOf(TermsPage, 'coach')).toContain('show it to you, back it up and, when you ask, send it');
  expect(textOf(PrivacyPage, 'nocoach')).toContain('Our server and PayPal may be');
});
