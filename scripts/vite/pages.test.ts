/** The text of the prerendered pages, as sent by a server with a coach and by a server without one. */
import type { ComponentType } from 'react';
import { expect, test } from 'vitest';
import { LandingPage } from '#client/features/landing/landing-page.tsx';
import { PrivacyPage } from '#client/features/legal/privacy-page.tsx';
import { TermsPage } from '#client/features/legal/terms-page.tsx';
import { renderConditionals } from '#server/http/pages.ts';
import { renderMarkup } from './pages.ts';

const textOf = (page: ComponentType, part: 'coach' | 'nocoach'): string =>
  renderConditionals(renderMarkup(page), new Set([part]))
    .replaceAll(/<[^>]*>/g, '')
    .trim();

const COACH_TEXT = /AI feedback|AI-driven|HustleScore|Hustle Reviews|AI model|AI analyses|gets the text of log entries/;

test.each([LandingPage, PrivacyPage, TermsPage])('%o omits coach features on a server without a coach', (page) => {
  expect(textOf(page, 'coach')).toMatch(COACH_TEXT);
  const without = textOf(page, 'nocoach').replaceAll('the AI feedback and scores you asked for', '');
  expect(without).not.toMatch(COACH_TEXT);
  for (const part of ['coach', 'nocoach'] as const) {
    expect(textOf(page, part)).not.toMatch(/ {2}| [.,]|when:/);
  }
});

test('sentences are complete with and without a coach', () => {
  expect(textOf(LandingPage, 'coach')).toContain('No AI feedback, no export');
  expect(textOf(LandingPage, 'nocoach')).toContain('No export');
  expect(textOf(TermsPage, 'nocoach')).toContain('opens every log, export, editor fonts');
  expect(textOf(TermsPage, 'nocoach')).toContain('Significantly used means one export since the payment.');
  expect(textOf(TermsPage, 'nocoach')).toContain('to store it, show it to you, and back it up.');
  expect(textOf(TermsPage, 'coach')).toContain('show it to you, back it up and, when you ask, send it');
  expect(textOf(PrivacyPage, 'nocoach')).toContain('Our server and PayPal may be');
});
