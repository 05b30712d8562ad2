/**
 * A browser without scripts, for flows over redirects: follows them one by one and stores cookies per host. As in a
 * browser, a redirect chain that has visited another host is cross-site, and SameSite decides which cookies such a
 * request carries.
 */

export type Page = { url: URL; status: number; headers: Headers; text: string };

type Cookie = { value: string; sameSite: string };

export class Browser {
  readonly #cookies = new Map<string, Map<string, Cookie>>();

  /** One request, without following a redirect; cross-site if the header `Sec-Fetch-Site` says so. */
  async open(url: string | URL, init: RequestInit = {}): Promise<Page> {
    const address = new URL(url);
    const jar = this.#cookies.get(address.host) ?? new Map<string, Cookie>();
    this.#cookies.set(address.host, jar);
    const headers = new Headers(init.headers);
    const isCrossSite = headers.get('Sec-Fetch-Site') === 'cross-site';
    const isGet = (init.method ?? 'GET') === 'GET';
    const cookie = [...jar]
      .filter(([, { sameSite }]) => !isCrossSite || (sameSite === 'Lax' && isGet))
      .map(([name, { value }]) => `${name}=${value}`)
      .join('; ');
    if (cookie !== '') headers.set('Cookie', cookie);
    const response = await fetch(address, { ...init, headers, redirect: 'manual' });
    for (const line of response.headers.getSetCookie()) {
      const [name, value] = /^([^=]+)=([^;]*)/.exec(line)!.slice(1, 3) as [string, string];
      jar.set(name, { value, sameSite: /; SameSite=(\w+)/.exec(line)?.[1] ?? 'Lax' });
    }
    return { url: address, status: response.status, headers: response.headers, text: await response.text() };
  }

  /**
   * Follows redirects until an address that begins with `target`, which is not requested; otherwise to the last page.
   *
   * @param isCrossSite whether the first request follows from a page of another site
   */
  async follow(url: string | URL, target: string, { isCrossSite = false } = {}): Promise<URL> {
    let next = new URL(url);
    let hasLeft = isCrossSite;
    for (let redirects = 0; redirects < 10 && !next.href.startsWith(target); redirects += 1) {
      const site = hasLeft ? 'cross-site' : 'same-origin';
      const page = await this.open(next, { headers: { 'Sec-Fetch-Site': site } });
      const location = page.headers.get('location');
      if (location === null) throw new Error(`${next.pathname} answered ${page.status}: ${page.text.slice(0, 500)}`);
      const following = new URL(location, next);
      hasLeft ||= following.host !== next.host;
      next = following;
    }
    return next;
  }

  cookies(host: string): Readonly<Record<string, string>> {
    const jar = this.#cookies.get(host) ?? new Map<string, Cookie>();
    return Object.fromEntries([...jar].map(([name, { value }]) => [name, value]));
  }
}

/** The parameters of a fragment. */
export const fragmentOf = (url: URL): Record<string, string> =>
  Object.fromEntries(new URLSearchParams(url.hash.slice(1)));
