/** The terms of service and the privacy policy. */
import { expectNoHorizontalScroll, inBothThemes, expect, test } from './support/test.ts';

const PAGES = [
  {
    path: '/terms-and-conditions',
    title: 'Terms of Service',
    sections: [
      'Acceptance',
      'The service',
      'Accounts',
      'Subscriptions',
      'Refunds',
      'AI features',
      'Conduct and termination',
      'Disclaimers',
      'Intellectual property',
      'Your data: export and deletion',
      'Changes to these terms',
      'Governing law',
    ],
    facts: [/14 calendar days/, /14 working days/, /30 days before/, /Delaware/, /billed annually/, /without notice/],
  },
  {
    path: '/privacy-policy',
    title: 'Privacy Policy',
    sections: [
      'What we collect',
      'How we use it',
      'Who else sees it',
      'Cookies and browser storage',
      'How long we keep it',
      'International transfer',
      'Security',
      'Children',
      'Your rights (GDPR)',
    ],
    facts: [/leaves from our server/, /Essential storage keeps you logged in/],
  },
] as const;

for (const { path, title, sections, facts } of PAGES) {
  test(`${title} shows all sections and links to the top and to the landing page`, async ({
    page,
    expectAccessible,
  }) => {
    await page.goto(path);
    await expect(page.getByRole('heading', { level: 1, name: title })).toBeVisible();
    await expect(page.getByText('Last updated July 21, 2025')).toBeVisible();
    await expect(page.getByRole('heading', { level: 2 })).toHaveText(
      sections.map((section, index) => `${index + 1}. ${section}`),
    );
    for (const fact of facts) await expect(page.getByText(fact).first()).toBeVisible();
    await inBothThemes(page, expectAccessible);
    await expectNoHorizontalScroll(page);

    await page.getByRole('link', { name: 'Back to top' }).click();
    await expect.poll(() => page.evaluate(() => scrollY)).toBe(0);
    await page.getByRole('link', { name: /^Back to Hustle Forge/ }).click();
    await expect(page).toHaveURL('/');
  });
}
