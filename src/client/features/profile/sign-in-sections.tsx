/** The sections about signing in: how, and where. */
import { SessionsSection } from './sessions/sessions-section.tsx';

export function SignInSections() {
  return <SessionsSection />;
}
