/** The settings screen: import for every plan, export and editor font for premium users. */
import type { Day } from '#domain/day/day.ts';
import type { UpgradeFeature } from '#domain/plan/upgrade.ts';
import { useSession } from '#client/lib/session/session.ts';
import { usePremium } from '#client/lib/plan/premium.ts';
import { useTitle } from '#client/lib/hooks/use-title.ts';
import { BackToJournal } from '#client/ui/page/back-to-journal.tsx';
import { Page } from '#client/ui/page/page.tsx';
import { PlanPlaceholder } from '#client/ui/plan/plan-placeholder.tsx';
import { ExportCard } from './export/export-card.tsx';
import { FontCard } from './font-card.tsx';
import { ImportCard } from './import/import-card.tsx';
import { WeekCard } from './week-card.tsx';

type SettingsScreenProps = {
  onUpgrade: (feature: UpgradeFeature) => void;
  /** Saves all drafts; returns the days that could not be saved. */
  sendAll: () => Promise<readonly Day[]>;
};

export function SettingsScreen({ onUpgrade, sendAll }: SettingsScreenProps) {
  useTitle('Settings');
  const premium = usePremium();
  const isLoading = useSession().profileState === 'loading';
  return (
    <Page title="Settings" back={<BackToJournal />}>
      {premium === null && <PlanPlaceholder />}
      {/* The cards have other heights on each plan, so they would shift if they were visible before. */}
      <div hidden={isLoading}>
        {premium !== null && <ImportCard onUpgrade={onUpgrade} />}
        <ExportCard premium={premium} sendAll={sendAll} onUpgrade={() => onUpgrade('export')} />
        <FontCard premium={premium} onUpgrade={() => onUpgrade('font-options')} />
        <WeekCard />
      </div>
    </Page>
  );
}
