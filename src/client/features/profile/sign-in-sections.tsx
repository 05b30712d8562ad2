/** The sections about how the user signs in, and about the devices that are signed in. */
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
