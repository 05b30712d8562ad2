/** Scenes of earlier versions and deleted days. The answers are made up: real versions take hours of editing. */
import type { Page } from '@playwright/test';
import { addDays, dayOf } from '#domain/day/day.ts';
import { ROUTES } from '#domain/routes.ts';
import { waitForEditor, type Scene } from './scene.ts';

const MINUTE_MS = 60_000;
const minutesAgo = (minutes: number): string => new Date(Date.now() - minutes * MINUTE_MS).toISOString();
const items = (...texts: string[]): string => `<ol>${texts.map((text) => `<li><p>${text}</p></li>`).join('')}</ol>`;

const VERSIONS = [
  {
    minutes: 25,
    replaced_by: 'edit',
    content: items('Shipped the billing reconciliation', 'Paired on the import bug'),
  },
  {
    minutes: 140,
    replaced_by: 'drop',
    content: items(
      'Shipped the billing reconciliation: 2 open differences since Friday',
      'Called the supplier about the late delivery and agreed on Thursday',
      'Reviewed four pull requests, one of them twice',
      'Wrote the release notes',
    ),
  },
  { minutes: 1_500, replaced_by: 'restore', content: items('Planned the week') },
  { minutes: 2_900, replaced_by: 'edit', content: items('Planned') },
].map(({ minutes, ...version }, index) => ({
  ...version,
  id: `00000000-0000-4000-8000-00000000000${index}`,
  written_at: minutesAgo(minutes),
  kept_at: minutesAgo(minutes - 5),
}));

const DELETED = [
  {
    daysAgo: 1,
    minutes: 12,
    excerpt: 'Shipped the billing reconciliation\nCalled the supplier about the late delivery',
  },
  { daysAgo: 8, minutes: 9_000, excerpt: 'I am sick' },
].map(({ daysAgo, minutes, excerpt }, index) => ({
  date: addDays(dayOf(new Date()), -daysAgo),
  version_id: `00000000-0000-4000-8000-00000000000${index}`,
  deleted_at: minutesAgo(minutes),
  excerpt,
}));

async function answerVersions(page: Page, versions: typeof VERSIONS): Promise<void> {
  await page.route('**/rest/v1/entry_versions?*', async (route) => {
    const id = new URL(route.request().url()).searchParams.get('id')?.replace('eq.', '');
    await route.fulfill({ json: id === undefined ? versions : versions.filter((version) => version.id === id) });
  });
}

const openFromMenu = async (page: Page, name: string): Promise<void> => {
  await waitForEditor(page);
  await page.getByRole('button', { name: 'Actions for this day' }).click();
  await page.getByRole('menuitem', { name }).click();
};
const openVersions = (page: Page): Promise<void> => openFromMenu(page, 'Earlier versions…');
async function openVersion(page: Page): Promise<void> {
  await answerVersions(page, VERSIONS);
  await openVersions(page);
  await page.getByRole('button', { name: 'before most of it was removed' }).click();
}

export const VERSIONS_SCENES: readonly Scene[] = [
  {
    name: 'versions',
    as: 'premium',
    path: ROUTES.journal.path,
    prepare: async (page) => {
      await openVersion(page);
      await page.getByRole('button', { name: 'Bring back this version' }).waitFor();
    },
  },
  {
    name: 'versions-next',
    as: 'premium',
    path: ROUTES.journal.path,
    prepare: async (page) => {
      await openVersion(page);
      await page.getByRole('radio', { name: 'the next version' }).check();
      await page.getByRole('list', { name: 'compared with the next version' }).waitFor();
    },
  },
  {
    name: 'versions-none',
    as: 'premium',
    path: ROUTES.journal.path,
    prepare: async (page) => {
      await openVersions(page);
      await page.getByText('no earlier versions').waitFor();
    },
  },
  {
    name: 'versions-failed',
    as: 'premium',
    path: ROUTES.journal.path,
    prepare: async (page) => {
      await page.route('**/rest/v1/entry_versions?*', (route) => route.abort());
      await openVersions(page);
      await page.getByRole('alert').filter({ hasText: 'Nothing is lost' }).waitFor();
    },
  },
  {
    name: 'deleted-days',
    as: 'premium',
    path: ROUTES.journal.path,
    prepare: async (page) => {
      await page.route('**/rest/v1/deleted_days?*', (route) => route.fulfill({ json: DELETED }));
      await openFromMenu(page, 'Deleted days…');
      await page.getByRole('button', { name: 'Bring back' }).first().waitFor();
    },
  },
  {
    name: 'deleted-days-none',
    as: 'newcomer',
    path: ROUTES.journal.path,
    prepare: async (page) => {
      await openFromMenu(page, 'Deleted days…');
      await page.getByText('No deleted days.').waitFor();
    },
  },
  {
    name: 'deleted-day-toast',
    as: 'newcomer',
    path: ROUTES.journal.path,
    prepare: async (page) => {
      await page.locator('.ProseMirror[contenteditable=true]').click();
      await page.keyboard.type('Written and deleted');
      await page.getByText(/^Saved/).waitFor();
      await page.keyboard.press('ControlOrMeta+a');
      await page.keyboard.press('Delete');
      await page.getByRole('button', { name: 'Undo' }).waitFor();
    },
  },
];
