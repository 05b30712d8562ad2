/** Installing the app: where the browser offers it, and how it is done on an iPhone or iPad. */
import { useEffect, useState } from 'react';
import { isIos } from '#client/lib/api/push-device.ts';

/** The types of TypeScript lack the event that Chromium fires. */
export type InstallPrompt = Event & { prompt: () => Promise<{ outcome: 'accepted' | 'dismissed' }> };

declare global {
  /** The browser's offer to install. The boot script stores it, because it may come before this code is loaded. */
  var hustleForgeInstall: InstallPrompt | undefined;
}

/** `ios`: the page can only say how. Null in the installed app, and where the browser offers no installation. */
export function useInstall(): { way: 'prompt' | 'ios' | null; install: () => void } {
  const [prompt, setPrompt] = useState(globalThis.hustleForgeInstall);
  useEffect(() => {
    const update = (): void => setPrompt(globalThis.hustleForgeInstall);
    const forget = (): void => setPrompt((globalThis.hustleForgeInstall = undefined));
    addEventListener('beforeinstallprompt', update);
    addEventListener('appinstalled', forget);
    return () => {
      removeEventListener('beforeinstallprompt', update);
      removeEventListener('appinstalled', forget);
    };
  }, []);
  const install = async (): Promise<void> => {
    const answer = await prompt?.prompt();
    // A browser lets a page ask once for each event.
    if (answer) setPrompt((globalThis.hustleForgeInstall = undefined));
  };
  const isInstalled = matchMedia('(display-mode: standalone)').matches;
  return { way: isInstalled ? null : prompt ? 'prompt' : isIos() ? 'ios' : null, install: () => void install() };
}
