/** Reads the installation's settings at run time, so that one build serves every installation. */
import type { ClientConfig } from '#domain/client-config.ts';

const META = 'meta[name="hustle-forge-config"]';

/** From the page, where our server has written them, or from `/config.json` when a static file server sent the page. */
export async function readClientConfig(): Promise<ClientConfig> {
  const inPage = document.querySelector<HTMLMetaElement>(META)?.content;
  if (inPage) return JSON.parse(inPage) as ClientConfig;
  const response = await fetch('/config.json');
  if (!response.ok) throw new Error(`config.json responded with ${response.status}`);
  return (await response.json()) as ClientConfig;
}
