import { ROUTES } from '#domain/routes.ts';
import { LegalPage, type LegalSection } from './legal-page.tsx';

const SECTIONS: readonly LegalSection[] = [
  {
    id: 'collected',
    title: 'What we collect',
    body: (
      <ul>
        <li>
          <strong>Account:</strong> your name, email address and a one-way hash of your password, and when you signed
          in.
        </li>
        <li>
          <strong>Logs:</strong> what you write, the day it belongs to, when it was saved, and the AI feedback and
          scores you asked for.
        </li>
        <li>
          <strong>Plan:</strong> which plan you have, until when, the country you chose when upgrading, and the
          payment&#39;s number. Card and bank details go to PayPal only.
        </li>
        <li>
          <strong>Technical:</strong> your network address and your browser&#39;s name and version, for the list of your
          sessions and to prevent abuse. Our request logs contain no journal text, no email addresses and no tokens.
        </li>
      </ul>
    ),
  },
  {
    id: 'use',
    title: 'How we use it',
    body: (
      <>
        <p>
          To run the journal: to store your logs, show them to you, sign you in, take payments and send the emails that
          this needs. Our legal grounds are the contract with you, our legitimate interest in a safe service, and, for
          AI features, your consent.
        </p>
        <p>We do not sell data, show advertisements or train models on your logs.</p>
      </>
    ),
  },
  {
    id: 'sharing',
    title: 'Who else sees it',
    body: (
      <>
        <ul>
          <hf-when name="coach">
            <li>
              <strong>The AI provider</strong> gets the text of log entries when you ask for feedback or a review. The
              call leaves from our server; your name and address are not part of it. The provider is named before you
              first agree.
            </li>
          </hf-when>
          <li>
            <strong>People with a link of yours</strong> see the document or review that you have made the link for, and
            nothing else, until the link ends. You can end it at any time. We do not count its views.
          </li>
          <li>
            <strong>Programs that you connect</strong>, such as a terminal, a phone, Slack or an AI agent, add to your
            journal or read it, as you allow, until you end the connection. What you type in Slack passes through Slack,
            and what an agent reads goes to whoever runs it.
          </li>
          <li>
            <strong>PayPal</strong> handles payments and gets what a payment needs.
          </li>
          <li>
            <strong>Hosting and email services</strong> store and transmit the data on our behalf. If you turn on the
            reminder or the digest, these mails quote lines of your logs; what you reply to a reminder reaches us
            through them, and only your own words are kept.
          </li>
          <li>
            <strong>The push service of your browser</strong> (of Google, Mozilla, Apple or Microsoft) delivers
            reminders to the devices that you turn them on for. They are encrypted, and have no words of your logs.
          </li>
          <li>
            <strong>Authorities</strong> get what the law requires us to hand over, and nothing more.
          </li>
        </ul>
      </>
    ),
  },
  {
    id: 'cookies',
    title: 'Cookies and browser storage',
    body: (
      <p>
        Essential storage keeps you logged in: your session, your theme, font and first day of the week, how you last
        signed in, unsaved text, copies of the days you have opened and of your last reviews, and a Closer&#39;s plan
        are kept in your browser. Signing out removes your session and your text from it. One cookie holds a random
        number and says only that this browser has signed in before, so that strangers who guess your password cannot
        lock you out. There are no advertising or tracking cookies, so there is no banner to click away.
      </p>
    ),
  },
  {
    id: 'retention',
    title: 'How long we keep it',
    body: (
      <p>
        Logs stay until you delete them or your account. The text of a deleted log, and earlier versions of a log, are
        kept for 30 days, so that you can bring them back. You can undo the deletion of your account for one hour. Then
        its logs and everything else in it are deleted, and leave our backups as those are replaced. Records of sign-ins
        and other security events, with network address and device, are kept for 400 days. Payment records are kept for
        as long as tax law requires, as figures without your name, address or country.
      </p>
    ),
  },
  {
    id: 'transfers',
    title: 'International transfer',
    body: (
      <p>
        Our server<hf-when name="coach">, the AI provider</hf-when> and PayPal may be in other countries than you, the
        United States among them. Where data leave the European Economic Area, the transfer rests on an adequacy
        decision or on the European Commission&#39;s standard contractual clauses.
      </p>
    ),
  },
  {
    id: 'security',
    title: 'Security',
    body: (
      <p>
        Connections are encrypted, passwords are stored as argon2id hashes, and the database itself keeps every
        user&#39;s rows apart. No system is perfect: should your data ever be exposed, we tell you and the authorities
        as the law requires.
      </p>
    ),
  },
  {
    id: 'children',
    title: 'Children',
    body: (
      <p>
        Hustle Forge is for people of legal contracting age. We do not knowingly keep data of children. If you know of
        such an account, tell us and we will delete it.
      </p>
    ),
  },
  {
    id: 'rights',
    title: 'Your rights (GDPR)',
    body: (
      <>
        <p>
          You can ask for a copy of your data, have it corrected or deleted, have its use restricted, transfer it,
          object to its use, and withdraw your consent for the future. Write to us from the address of your account; we
          answer within one month. You may also complain to the data protection authority where you live.
        </p>
        <p>
          How your content is exported and deleted is also in the{' '}
          <a href={`${ROUTES.terms.path}#export`}>Terms of Service</a>.
        </p>
      </>
    ),
  },
];

export function PrivacyPage() {
  return (
    <LegalPage
      title="Privacy Policy"
      updated="Last updated July 21, 2025. The sections on sharing, cookies and retention were made more exact on November 23, 2026."
      intro={<p>A journal holds private things. This is what we keep, why, and what you can do about it.</p>}
      sections={SECTIONS}
    />
  );
}
