/** Starts React on the app page. */
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { ClientConfigContext, createSupabase, SupabaseContext } from '#client/lib/api/supabase.ts';
import { ignoreCandidateKeys } from '#client/lib/keys.ts';
import { ToastProvider } from '#client/ui/toast.tsx';
import { ErrorBoundary, ErrorScreen } from './full-screen.tsx';
import { preventFileDrops } from './prevent-file-drops.ts';
import { AppRouter } from './router.tsx';
import { createAuthFetch } from './session/auth-fetch.ts';
import { SessionProvider } from './session/session-provider.tsx';
import type { ClientConfig } from '#domain/client-config.ts';

export async function startApp(): Promise<void> {
  preventFileDrops();
  ignoreCandidateKeys();
  const root = createRoot(document.getElementById('root')!);
  try {
    const config = await readClientConfig();
    const supabase = createSupabase(config, createAuthFetch(config));
    root.render(
      <StrictMode>
        <ErrorBoundary>
          <ClientConfigContext value={config}>
            <SupabaseContext value={supabase}>
              <ToastProvider>
                <SessionProvider>
                  <AppRouter />
                </SessionProvider>
              </ToastProvider>
            </SupabaseContext>
          </ClientConfigContext>
        </ErrorBoundary>
      </StrictMode>,
    );
  } catch {
    // The configuration could not be read, so the app does not know its server. The error screen offers a reload.
    root.render(<ErrorScreen />);
  }
}

const META = 'meta[name="hustle-forge-config"]';

/**
 * Reads the installation's settings at run time, so that one build serves every installation: those that our server
 * writes into the page, or `/config.json` if a static server sent the page.
 */
async function readClientConfig(): Promise<ClientConfig> {
  const inPage = document.querySelector<HTMLMetaElement>(META)?.content;
  if (inPage) return JSON.parse(inPage) as ClientConfig;
  const response = await fetch('/config.json');
  if (!response.ok) throw new Error(`config.json responded with ${response.status}`);
  return (await response.json()) as ClientConfig;
}
