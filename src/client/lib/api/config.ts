/** Reads the installation's settings at run time, so that one build serves every installation. */
import type { ClientConfig } from '#domain/client-config.ts';

const META = 'meta[name="hustle-forge-config"]';

/** Reads the settings that our server writes into the page; if a static server sent the page, reads `/config.json`. */
export async function readClientConfig(): Promise<ClientConfig> {
  const inPage = document.querySelector<HTMLMetaElement>(META)?.content;
  if (inPage) return JSON.parse(inPage) as ClientConfig;
  const response = await fetch('/config.json');
  if (!response.ok) throw new Error(`config.json responded with ${response.status}`);
  return (await response.json()) as ClientConfig;
}
