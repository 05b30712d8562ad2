/** Whether a host name or address is reachable only from this machine. */
export const isLoopback = (host: string): boolean =>
  host === 'localhost' || host === '::1' || host === '[::1]' || /^127(\.\d{1,3}){3}$/.test(host);

/**
 * Threat: the server at a provider's address decides who signs in, and somebody in the network can answer in its place
 * over plain http. So http is accepted only on loopback during development, and loopback never in production.
 */
export const isTrustworthyProviderUrl = (url: URL, production: boolean): boolean =>
  url.protocol === 'https:'
    ? !(production && isLoopback(url.hostname))
    : url.protocol === 'http:' && !production && isLoopback(url.hostname);
