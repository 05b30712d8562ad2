/** The sections about signing in: how, and where. */
import { SecuritySections } from './security/security-sections.tsx';
import { SessionsSection } from './sessions/sessions-section.tsx';

export function SignInSections() {
  return (
    <>
      <SecuritySections />
      <SessionsSection />
    </>
  );
}
