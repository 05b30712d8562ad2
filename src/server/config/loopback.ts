/** Whether a host name or address is reachable only from this machine. */
export const isLoopback = (host: string): boolean =>
  host === 'localhost' || host === '::1' || host === '[::1]' || /^127(\.\d{1,3}){3}$/.test(host);

/**
 * Threat: the server at a provider's address decides who signs in. Plain http is for loopback during development only.
 */
export const isTrustworthyProviderUrl = (url: URL, production: boolean): boolean =>
  url.protocol === 'https:'
    ? !(production && isLoopback(url.hostname))
    : url.protocol === 'http:' && !production && isLoopback(url.hostname);
