/** Puts the coach's consent into the profile screen. */
import { CoachConsentSection } from '#client/features/coach/coach-consent.tsx';
import { ProfileScreen } from '#client/features/account/profile-screen.tsx';

export const ProfileRoute = () => <ProfileScreen coach={<CoachConsentSection />} />;
