/** The settings screen: a card for each setting. Export and editor font are for premium users. */
import { useState, type ReactNode } from 'react';
import type { Day } from '#domain/day/day.ts';
import { WEEK_STARTS } from '#domain/day/month.ts';
import { useFocusRestore } from '#client/lib/hooks/use-focus-restore.ts';
import { useSession, useUser } from '#client/lib/session/session.ts';
import { usePremium } from '#client/lib/plan/premium.ts';
import { useTitle } from '#client/lib/navigation.ts';
import { BackToJournal, Page, Section } from '#client/ui/page/page.tsx';
import { Choices } from '#client/ui/form/choices.tsx';
import { Quiet, Stack, LoadError } from '#client/ui/stack.tsx';
import { PlanPlaceholder } from '#client/ui/plan/plan-placeholder.tsx';
import {
  chooseEditorFont,
  storedEditorFont,
  chooseWeekStart,
  chosenWeekStart,
  type EditorFont,
} from '#client/lib/session/browser-preferences.ts';
import { DayCard, PromptsCard, TimeOffCard } from './day-cards.tsx';
import { ExportCard } from './export/export-card.tsx';
import { ImportCard, ImportFrame } from './import/import-card.tsx';
import { ReminderCards } from './reminder-cards.tsx';
import { UpgradePrompt, pluralize } from './settings-parts.tsx';
import styles from './settings.module.css';
import { useQuery } from '@tanstack/react-query';
import { useData } from '#client/lib/api/data-client.ts';
import { LoadingText } from '#client/ui/loading-text.tsx';
import { FoldedSection } from '#client/ui/page/folded-section.tsx';
import { LinkRows, linksKey, listLinks } from '#client/ui/share/links.tsx';

type SettingsScreenProps = {
  /** Saves all drafts; returns the days that could not be saved. */
  sendAll: () => Promise<readonly Day[]>;
  /** The card of the access tokens. */
  tokens: ReactNode;
};

export function SettingsScreen({ sendAll, tokens }: SettingsScreenProps) {
  useTitle('Settings');
  const premium = usePremium();
  const isLoading = useSession().profileState === 'loading';
  return (
    <Page title="Settings" back={<BackToJournal />}>
      {isLoading && <ImportFrame />}
      {premium === null && <PlanPlaceholder />}
      {/* The heights of the cards depend on the plan, so cards that are shown before it is known would shift. */}
      <div hidden={isLoading}>
        {!isLoading && <ImportCard />}
        <ExportCard premium={premium} sendAll={sendAll} />
        <FontCard premium={premium} />
        <WeekCard />
        <DayCard />
        <TimeOffCard />
        <PromptsCard />
        <ReminderCards />
        <LinksCard />
        {tokens}
      </div>
    </Page>
  );
}

const fontSample = (font: EditorFont): ReactNode => (
  <span className={styles.sample} data-font={font} aria-hidden="true">
    1. Shipped what I put off
  </span>
);

const FONTS = [
  { value: 'default', label: 'Sans-serif', note: '(default)', example: fontSample('default') },
  { value: 'serif', label: 'Serif', example: fontSample('serif') },
  { value: 'monospace', label: 'Monospace', example: fontSample('monospace') },
] as const;

/** The Editor Font card: three fonts, each with a sample. */
function FontCard({ premium }: { premium: boolean | null }) {
  const [chosen, setChosen] = useState(storedEditorFont);
  const shown = premium === false ? 'default' : chosen;
  return (
    <Section title="Editor Font" locked={premium === false}>
      <Stack>
        <Quiet>Choose the font of the editor. Your logs do not change.</Quiet>
        <Choices
          legend="Editor Font"
          name="fontFamily"
          choices={FONTS}
          chosen={shown}
          onChoose={(value) => {
            setChosen(value);
            chooseEditorFont(value);
          }}
          disabled={premium !== true}
          locked={premium === false}
        />
      </Stack>
      {premium === false && (
        <UpgradePrompt feature="font-options" id="font-lock" text="Upgrade to Closer to choose the editor font." />
      )}
    </Section>
  );
}

const WEEKS = WEEK_STARTS.map((value) => ({ value, label: value, note: value === 'Sunday' ? '(default)' : undefined }));

/** The Week card: the day on which weeks begin. */
function WeekCard() {
  const [chosen, setChosen] = useState(chosenWeekStart);
  return (
    <Section title="Week">
      <Stack>
        <Quiet>Choose the day on which a week begins in the calendar and the year.</Quiet>
        <Choices
          legend="Week"
          name="weekStart"
          choices={WEEKS}
          chosen={chosen}
          onChoose={(start) => {
            setChosen(start);
            chooseWeekStart(start);
          }}
        />
      </Stack>
    </Section>
  );
}

/** The Links card: the read-only links that still work, each with a button that ends it. */
function LinksCard() {
  const data = useData();
  const { fallbackRef, areaProps } = useFocusRestore();
  const { id: userId } = useUser();
  const links = useQuery({
    queryKey: linksKey(userId),
    queryFn: ({ signal }) => listLinks(data, userId, signal),
    staleTime: 0,
    networkMode: 'always',
  });
  return (
    <FoldedSection
      title="Links"
      summary={links.data && (links.data.length === 0 ? 'None' : pluralize(links.data.length, 'link'))}
    >
      <Stack {...areaProps}>
        {links.data ? (
          <>
            <Quiet ref={fallbackRef} tabIndex={-1}>
              {links.data.length === 0
                ? 'No links. A link shows a document or a review to anyone who has it.'
                : 'Anyone with a link can read what it shows until it ends. Views are not counted.'}
            </Quiet>
            {links.data.length > 0 && <LinkRows links={links.data} label="Links" />}
          </>
        ) : links.isError ? (
          <LoadError request={links}>Couldn't load your links.</LoadError>
        ) : (
          <LoadingText />
        )}
      </Stack>
    </FoldedSection>
  );
}
