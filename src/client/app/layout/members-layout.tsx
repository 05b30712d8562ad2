/**
 * The guard and the layout of all protected screens (docs/specification/screens.md 1): data client, saving of the logs,
 * upgrade dialog and sign-in overlay.
 */
import { notifyManager, QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { useCallback, useEffect, useMemo, useState, useRef, type PropsWithChildren } from 'react';
import { dateLabel, type Day } from '#domain/day/day.ts';
import type { UpgradeFeature } from '#domain/plan/upgrade.ts';
import { ROUTES } from '#domain/routes.ts';
import { DaySaversProvider } from '#client/sync/day-savers-provider.tsx';
import { createDataClient, DataContext } from '#client/lib/api/data-client.ts';
import type { DaySavers } from '#client/sync/day-savers.ts';
import { restoreLog } from '#client/sync/entries/restore-log.ts';
import { draftsOfOthers } from '#client/sync/day-drafts.ts';
import { lazyChunk, preloadChunksWhenIdle, useOpenChunk } from '#client/ui/lazy-chunk.ts';
import { useNavigate, type PageState } from '#client/lib/navigation.ts';
import { useToast } from '#client/ui/toast.tsx';
import { usePremium, UpgradeContext } from '#client/lib/plan/premium.ts';
import { useSession } from '#client/lib/session/session.ts';
import { useSupabase } from '#client/lib/api/supabase.ts';
import { LoadingScreen } from '../full-screen.tsx';

const upgrade = lazyChunk(async () => (await import('#client/features/billing/upgrade-dialog.tsx')).UpgradeDialog);
const signIn = lazyChunk(async () => (await import('#client/features/sign-in/sign-in-overlay.tsx')).SignInOverlay);
const otherUsersDrafts = lazyChunk(
  async () => (await import('#client/features/sign-in/other-users-drafts.tsx')).OtherUsersDrafts,
);
const background = lazyChunk(async () => (await import('./members-background.tsx')).MembersBackground);

// TanStack Query notifies React by a timer by default. On a busy page the timer is late, and a clicked checkbox would
// show its old state until then. A microtask runs in the task of the click.
notifyManager.setScheduler(queueMicrotask);

export function MembersLayout({ children }: PropsWithChildren) {
  const access = useMemberAccess();
  const { user } = useSession();
  if (access === 'loading') return <LoadingScreen />;
  if (access === 'denied' || !user) return <RedirectToLogin />;
  // Threat: another user signs in, and the previous user's data stays on screen. A new key drops all state and caches.
  return <Members key={user.id}>{children}</Members>;
}

/** Returns `granted` also for an expired session: the screen stays, and the sign-in overlay opens above it. */
function useMemberAccess(): 'loading' | 'granted' | 'denied' {
  const { status, user } = useSession();
  if (status === 'loading') return 'loading';
  return status === 'signedIn' && user ? 'granted' : 'denied';
}

function RedirectToLogin() {
  // The page that the user wanted, read once: during the redirect the location is already the login screen's.
  const [state] = useState<PageState>(() => ({ from: location.pathname + location.search + location.hash }));
  const navigate = useNavigate();
  useEffect(() => void navigate(ROUTES.login.path, { replace: true, state }), [navigate, state]);
  return <LoadingScreen />;
}

/** Adds jitter: without it, all browsers that a busy server refuses at one moment would retry at one moment too. */
const retryDelayMs = (): number => 1_000 + Math.random() * 1_000;

function Members({ children }: PropsWithChildren) {
  const supabase = useSupabase();
  const { expired, user } = useSession();
  const premium = usePremium();
  const data = useMemo(() => createDataClient(supabase), [supabase]);
  const [queries] = useState(
    () => new QueryClient({ defaultOptions: { queries: { retry: 1, retryDelay: retryDelayMs, staleTime: 30_000 } } }),
  );
  usePlanChange(premium, queries);
  const [offer, setOffer] = useState<UpgradeFeature | null>(null);
  const [hasBackground, setHasBackground] = useState(false);
  const [isSignInLoaded, setSignInLoaded] = useState(false);
  const [hasOthersDrafts, setHasOthersDrafts] = useState(false);
  const openChunk = useOpenChunk();
  const showDeletedDay = useDeletedDayToast();
  const openOffer = useCallback((feature: UpgradeFeature) => openChunk(upgrade, () => setOffer(feature)), [openChunk]);

  // No click opens the sign-in overlay, so no click retries when its code fails to load. This effect retries on
  // reconnect and on each pointer press.
  useEffect(() => {
    if (!expired || isSignInLoaded) return;
    const openSignIn = (): void => openChunk(signIn, () => setSignInLoaded(true), false);
    openSignIn();
    addEventListener('online', openSignIn);
    addEventListener('pointerdown', openSignIn);
    return () => {
      removeEventListener('online', openSignIn);
      removeEventListener('pointerdown', openSignIn);
    };
  }, [expired, openChunk, isSignInLoaded]);

  const userId = user?.id ?? '';
  useEffect(() => {
    if (draftsOfOthers(localStorage, userId).length > 0)
      openChunk(otherUsersDrafts, () => setHasOthersDrafts(true), false);
  }, [openChunk, userId]);

  useEffect(() => preloadChunksWhenIdle([() => background.load().then(() => setHasBackground(true))]), []);

  useEffect(() => {
    if (premium === null) return;
    // Best effort: without the chunk the font stays as it is until the next load.
    import('#client/lib/session/browser-preferences.ts').then(
      ({ syncEditorFontWithPlan }) => syncEditorFontWithPlan(premium),
      () => undefined,
    );
  }, [premium]);

  return (
    <QueryClientProvider client={queries}>
      <DataContext value={data}>
        <UpgradeContext value={openOffer}>
          <DaySaversProvider onRemoved={showDeletedDay}>
            {hasBackground && <background.View />}
            {children}
          </DaySaversProvider>
        </UpgradeContext>
        {offer && <upgrade.View feature={offer} onClose={() => setOffer(null)} />}
        {hasOthersDrafts && <otherUsersDrafts.View onClose={() => setHasOthersDrafts(false)} />}
        {expired && isSignInLoaded && <signIn.View />}
      </DataContext>
    </QueryClientProvider>
  );
}

/** Returns a function that tells the user of a deleted log and offers to undo the deletion. */
function useDeletedDayToast(): (savers: DaySavers, date: Day, html: string) => void {
  const toast = useToast();
  return (savers, date, html) =>
    toast({
      kind: 'info',
      topic: date,
      text: `The log of ${dateLabel(date)} was deleted.`,
      action: { label: 'Undo', run: () => void restoreLog(savers, date, html) },
    });
}

/**
 * Reads the plan again while the page is visible, one request at a time: a tab that comes to the front fires both
 * `focus` and `visibilitychange`.
 */
function createPlanRefresh(refreshProfile: () => Promise<unknown>): () => void {
  let isRefreshing = false;
  const refresh = async (): Promise<void> => {
    if (isRefreshing || document.visibilityState === 'hidden') return;
    isRefreshing = true;
    await refreshProfile();
    isRefreshing = false;
  };
  return () => void refresh();
}

/** A visible page asks for a plan that it could not load at this interval, or up to half longer. */
const RETRY_MS = 5_000;

/**
 * Reads the plan again when the page comes to the front: a payment in another tab, a refund or an expiry may have
 * changed it. Asks again for a plan that could not be loaded.
 */
function usePlanChange(premium: boolean | null, queries: QueryClient): void {
  const { expired, profileState, refreshProfile } = useSession();
  const isUnknown = profileState === 'unavailable';
  const previous = useRef(premium);

  useEffect(() => {
    if (expired) return;
    const refresh = createPlanRefresh(refreshProfile);
    // Jitter: the browsers that one outage has cut off don't all ask at one moment.
    const timer = isUnknown ? setInterval(refresh, RETRY_MS * (1 + Math.random() / 2)) : undefined;
    if (isUnknown) addEventListener('online', refresh);
    addEventListener('focus', refresh);
    document.addEventListener('visibilitychange', refresh);
    return () => {
      clearInterval(timer);
      removeEventListener('online', refresh);
      removeEventListener('focus', refresh);
      document.removeEventListener('visibilitychange', refresh);
    };
  }, [expired, isUnknown, refreshProfile]);

  useEffect(() => {
    if (premium === null) return;
    const hasChanged = previous.current !== null && previous.current !== premium;
    previous.current = premium;
    if (!hasChanged) return;
    // Any cached response may depend on the previous plan.
    queries.removeQueries({ type: 'inactive' });
    void queries.invalidateQueries();
  }, [premium, queries]);
}
