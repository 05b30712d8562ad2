/** Connects the profile screen to the upgrade dialog. */
import { ProfileScreen } from '#client/features/account/profile-screen.tsx';
import { useUpgrade } from '../layout/upgrade-context.ts';

export function ProfileRoute() {
  const upgrade = useUpgrade();
  return <ProfileScreen onUpgrade={() => upgrade('default')} />;
}
