/** Connects the profile screen to the upgrade dialog and to the coach's consent. */
import { CoachConsentSection } from '#client/features/coach/coach-consent.tsx';
import { ProfileScreen } from '#client/features/account/profile-screen.tsx';
import { useUpgrade } from '../layout/upgrade-context.ts';

export function ProfileRoute() {
  const upgrade = useUpgrade();
  return <ProfileScreen coach={<CoachConsentSection />} onUpgrade={() => upgrade('default')} />;
}
