/** The landing page, prerendered at build time; its only scripts are the boot script and `landing-entry.ts`. */
import type { ReactNode } from 'react';
import { FIRST_LINE_MAX_LENGTH } from '#domain/log/entry.ts';
import { PLANS, FAIR_USE_NOTE } from '#domain/plan/plan.ts';
import { ROUTES } from '#domain/routes.ts';
import { ButtonLink } from '#client/ui/button.tsx';
import { SampleDay } from '#client/ui/coach-sample.tsx';
import { Brand } from '#client/ui/page/brand.tsx';
import styles from './landing-page.module.css';

const FEATURES = [
  { title: 'Minimalistic', text: 'A numbered list and your own words. It opens on today and is ready before you are.' },
  {
    title: 'NO BS Clutter',
    text: 'Nothing to set up, tag or file. One day, one log, and a calendar to find it again.',
  },
  {
    title: 'AI-driven Feedback',
    text: 'A HustleScore from 1 to 10 and a straight answer about the day, citing what you wrote.',
    needsCoach: true,
  },
] as const;

const FREE_POINTS = ['Unlimited daily logs', 'Access to the last 30 days'] as const;
const PREMIUM_POINTS = [
  { text: 'Every log you ever wrote' },
  { text: 'Unlimited AI feedback and HustleScore', needsCoach: true },
  { text: 'Hustle Reviews of a week, a month, a quarter, a year', needsCoach: true },
  { text: 'The document for your yearly review' },
  { text: 'Export of all entries' },
  { text: 'Editor fonts and priority support' },
] as const;

type PointProps = { needsCoach?: boolean; children: ReactNode };

/** A benefit in a list. `needsCoach`: a server without a coach leaves it out. */
function Point({ needsCoach = false, children }: PointProps) {
  const point = <li>{children}</li>;
  return needsCoach ? <hf-when name="coach">{point}</hf-when> : point;
}

export function LandingPage() {
  return (
    <div className={styles.wrap}>
      <header className={styles.top}>
        <Brand />
        <nav className={styles.account} aria-label="Account">
          <ButtonLink tone="text" href={ROUTES.login.path}>
            Login
          </ButtonLink>
          <hf-when name="signups">
            <ButtonLink href={ROUTES.signup.path}>Sign Up</ButtonLink>
          </hf-when>
        </nav>
      </header>
      <main>
        {/* Filled by `showDeletionNotice`. */}
        <p id="leaving" className={styles.leaving} role="status" />
        <Hero />
        <hf-when name="coach">
          <section className={styles.sample} aria-label="A sample">
            <SampleDay hasPlot />
          </section>
        </hf-when>
        <section aria-labelledby="why">
          <h2 id="why">Why Hustle Forge?</h2>
          <ul className={styles.why}>
            {FEATURES.map((feature) => (
              <Point key={feature.title} needsCoach={'needsCoach' in feature}>
                <h3>{feature.title}</h3>
                <p>{feature.text}</p>
              </Point>
            ))}
          </ul>
        </section>
        <Plans />
      </main>
      <Footer />
    </div>
  );
}

function Hero() {
  return (
    <section className={styles.hero}>
      <h1>Done anything worth a damn today?</h1>
      <hf-when name="signups">
        <div className={styles.line}>
          <span className={styles.number} aria-hidden="true">
            1.
          </span>
          {/* The text becomes the first line of the first log after sign-up (landing-entry.ts). */}
          <textarea
            id="first-line"
            rows={1}
            maxLength={FIRST_LINE_MAX_LENGTH}
            aria-label="What have you done today?"
            placeholder="What have you done today?"
            autoComplete="off"
            dir="auto"
            enterKeyHint="go"
          />
        </div>
      </hf-when>
      <p className={styles.lead}>One page a day. Write what you got done, or own up that you did nothing.</p>
      <hf-when name="signups">
        <p className={styles.action}>
          <ButtonLink tone="primary" href={ROUTES.signup.path} className={styles.start}>
            Start Logging
          </ButtonLink>
          <span id="saved" className={styles.saved} role="status" />
        </p>
      </hf-when>
      <hf-when name="nosignups">
        <p className={styles.lead}>New accounts are closed here. If you already have one, sign in.</p>
        <p className={styles.action}>
          <ButtonLink tone="primary" href={ROUTES.login.path} className={styles.start}>
            Sign in
          </ButtonLink>
        </p>
      </hf-when>
    </section>
  );
}

function Plans() {
  return (
    <section className={styles.level} aria-labelledby="level">
      <h2 id="level">Choose Your Level</h2>
      <div className={styles.plans}>
        <article className={styles.plan}>
          <h3>{PLANS.free.name}</h3>
          <p className={styles.tagline}>{PLANS.free.tagline}</p>
          <p className={styles.price}>{PLANS.free.price}</p>
          <ul>
            {FREE_POINTS.map((point) => (
              <li key={point}>{point}</li>
            ))}
            <li>
              No <hf-when name="coach">AI feedback, no </hf-when>export
            </li>
          </ul>
          <hf-when name="signups">
            <ButtonLink href={ROUTES.signup.path}>Start Free</ButtonLink>
          </hf-when>
        </article>
        <article className={styles.plan}>
          <h3>
            {PLANS.premium.name} <span className={styles.flag}>RECOMMENDED</span>
          </h3>
          <p className={styles.tagline}>{PLANS.premium.tagline}</p>
          <p className={styles.price}>
            {PLANS.premium.price} <small>per year</small>
          </p>
          <ul>
            {PREMIUM_POINTS.map((point) => (
              <Point key={point.text} needsCoach={'needsCoach' in point}>
                {point.text}
              </Point>
            ))}
          </ul>
          <hf-when name="coach">
            <p className={styles.fairUse}>{FAIR_USE_NOTE}</p>
          </hf-when>
          <hf-when name="signups">
            <ButtonLink tone="primary" href={ROUTES.signup.path}>
              Upgrade Now
            </ButtonLink>
          </hf-when>
        </article>
      </div>
      <p className={styles.blood}>
        Blood in the Game: Not a feature—just fact: {PLANS.premium.price} proves you're not screwing around.
      </p>
    </section>
  );
}

function Footer() {
  return (
    <footer className={styles.footer}>
      <nav aria-label="Legal and contact">
        <a href={ROUTES.terms.path}>Terms of Service</a>
        <a href={ROUTES.privacy.path}>Privacy Policy</a>
        <hf-slot name="contact" />
        <hf-slot name="support" />
        <hf-slot name="social" />
      </nav>
      <p>© {new Date().getFullYear()} Hustle Forge</p>
    </footer>
  );
}
