/** The terms of service, in plain English (docs/specification/screens.md 16). */
import { FAIR_USE_ANALYSES } from '#domain/coach/coach.ts';
import { PREMIUM_PRICE } from '#domain/plan/plan.ts';
import { ROUTES } from '#domain/routes.ts';
import { LegalPage } from './legal-page.tsx';
import type { LegalSection } from './legal-page.tsx';

const SECTIONS: readonly LegalSection[] = [
  {
    id: 'acceptance',
    title: 'Acceptance',
    body: (
      <>
        <p>
          By creating an account or using Hustle Forge you agree to these terms and to our{' '}
          <a href={ROUTES.privacy.path}>Privacy Policy</a>. If you do not agree, do not use the service.
        </p>
        <p>You must be of legal contracting age where you live. If you are not, you may not open an account.</p>
      </>
    ),
  },
  {
    id: 'service',
    title: 'The service',
    body: (
      <>
        <p>
          Hustle Forge is a daily work journal. You write one log a calendar day.
          <hf-when name="coach">
            {' '}
            On the paid plan an AI model can comment on a day, give it a HustleScore and review the last 7 or 30 days.
          </hf-when>
        </p>
        <hf-when name="coach">
          <p>
            Feedback and scores are machine-made opinions about a text. They are not professional advice, and nobody
            should decide anything important on them alone.
          </p>
        </hf-when>
      </>
    ),
  },
  {
    id: 'accounts',
    title: 'Accounts',
    body: (
      <ul>
        <li>Give a working e-mail address: we have no other way to reach you or to let you back in.</li>
        <li>Keep your password to yourself. What happens under your account is your responsibility.</li>
        <li>One account is for one person. Tell us at once if you think somebody else is using yours.</li>
      </ul>
    ),
  },
  {
    id: 'subscriptions',
    title: 'Subscriptions',
    body: (
      <>
        <p>
          <strong>Plans.</strong> Dabbler is free: unlimited daily logs, of which the last 30 days can be opened. Closer
          costs {PREMIUM_PRICE.label} (US dollars) and opens every log,{' '}
          <hf-when name="coach">AI feedback and HustleScore, Hustle Reviews, </hf-when>export, editor fonts and priority
          support.
        </p>
        <hf-when name="coach">
          <p>
            <strong>Fair use.</strong> AI feedback and Hustle Reviews are unlimited within fair use: up to{' '}
            {FAIR_USE_ANALYSES} analyses a day for each account, feedback and reviews together, counted from midnight
            UTC.
          </p>
        </hf-when>
        <p>
          <strong>Payment.</strong> Payments go through PayPal. We never see or keep your card or bank details. The plan
          changes when PayPal tells us that the payment is complete.
        </p>
        <p>
          <strong>Billing.</strong> Closer is billed annually, for one full year in advance. It does not renew by
          itself: when the year is over you decide again. If you pay before it is over, the new year begins when the old
          one ends.
        </p>
        <p>
          <strong>Where it can be bought.</strong> Payment may not be possible from every country, because of the
          processor&#39;s rules or the law. Where it is not, the upgrade says so before you pay.
        </p>
        <p>
          <strong>When a plan ends.</strong> Nothing is deleted. Logs older than 30 days lock, and open again with the
          next payment.
        </p>
      </>
    ),
  },
  {
    id: 'refunds',
    title: 'Refunds',
    body: (
      <>
        <p>Payments are not refunded, with one exception.</p>
        <p>
          If you live in the European Economic Area you may withdraw within 14 calendar days of paying, as long as you
          have not significantly used the premium features. Significantly used means{' '}
          <hf-when name="coach">more than three AI analyses, or one export,</hf-when>
          <hf-when name="nocoach">one export</hf-when> since the payment.
        </p>
        <p>
          Ask by e-mail from the address of your account. When we accept, we pay the money back within 14 working days
          of acceptance, the way you paid.
        </p>
      </>
    ),
  },
  {
    id: 'ai',
    title: 'AI features',
    body: (
      <>
        <hf-when name="nocoach">
          <p>This server has no AI features. No log is sent to an AI provider.</p>
        </hf-when>
        <hf-when name="coach">
          <p>
            AI features send the text of log entries to an AI provider. The call leaves from our server, never from your
            browser, and only after you have asked for it: for a day, that day and up to three days before it as
            context; for a review, the days of the period.
          </p>
          <p>
            AI is off for your account until you have agreed to it once, with the provider named. You can withdraw that
            at any time on your profile page. What the model answers can be wrong, blunt or both.
          </p>
        </hf-when>
      </>
    ),
  },
  {
    id: 'conduct',
    title: 'Conduct and termination',
    body: (
      <>
        <p>
          Do not break the law with the service, attack it, overload it, try to reach other people&#39;s logs, or resell
          it.
        </p>
        <p>
          We may ban an account that does, without notice. You may stop at any time and ask us to delete your account.
        </p>
      </>
    ),
  },
  {
    id: 'disclaimers',
    title: 'Disclaimers',
    body: (
      <>
        <p>
          Hustle Forge is an early-stage product. It comes as it is, without warranties, and may change or be
          interrupted. As far as the law allows, we are not liable for indirect damage or lost profit, and in total for
          no more than what you paid us in the last twelve months.
        </p>
        <p>
          Do not put sensitive data into your logs: no passwords, no health or financial records, no secrets of your
          employer, nothing about other people that they would not want written down.
        </p>
      </>
    ),
  },
  {
    id: 'ownership',
    title: 'Intellectual property',
    body: (
      <>
        <p>
          What you write is yours. You keep ownership of your content; we get only the permission to store it, show it
          to you, <hf-when name="nocoach">and back it up</hf-when>
          <hf-when name="coach">back it up and, when you ask, send it to the AI provider</hf-when>.
        </p>
        <p>
          The product, its name and its code are ours. These terms give you no rights in them beyond using the service.
        </p>
      </>
    ),
  },
  {
    id: 'export',
    title: 'Your data: export and deletion',
    body: (
      <p>
        Closers can export all their entries from the settings page. Anybody can have their account and everything in it
        deleted: ask by e-mail from the address of the account.
      </p>
    ),
  },
  {
    id: 'changes',
    title: 'Changes to these terms',
    body: (
      <p>
        When we change these terms in a way that matters to you, we tell you by e-mail at least 30 days before it takes
        effect. If you keep using the service after that, the new terms hold. If you do not agree, stop using it and ask
        us to delete your account.
      </p>
    ),
  },
  {
    id: 'law',
    title: 'Governing law',
    body: (
      <p>
        These terms are governed by the laws of the State of Delaware, USA, without regard to its conflict-of-law rules.
        If you are a consumer, the mandatory protections of the country you live in stay yours.
      </p>
    ),
  },
];

export function TermsPage() {
  return (
    <LegalPage
      title="Terms of Service"
      updated="Last updated July 21, 2025. The sections on subscriptions, AI features and refunds were made more exact in November 2026."
      intro={<p>You write, the words stay yours, and we try to be straight with you. The details:</p>}
      sections={SECTIONS}
    />
  );
}
