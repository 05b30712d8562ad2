/** Reads the installation's settings, so that one build serves every installation. */
import type { ClientConfig } from '#domain/client-config.ts';

const META = 'meta[name="hustle-forge-config"]';

/** The settings the server wrote into the page, or, where a plain file server sent it, those of `/config.json`. */
export async function readClientConfig(): Promise<ClientConfig> {
  const inPage = document.querySelector<HTMLMetaElement>(META)?.content;
  if (inPage) return JSON.parse(inPage) as ClientConfig;
  const response = await fetch('/config.json');
  if (!response.ok) throw new Error(`config.json answered ${response.status}`);
  return (await response.json()) as ClientConfig;
}
