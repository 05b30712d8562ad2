/** A browser without scripts, for flows over redirects: follows them one by one and stores cookies per host. */

export type Page = { url: URL; status: number; headers: Headers; text: string };

export class Browser {
  readonly #cookies = new Map<string, Map<string, string>>();

  /** One request, without following a redirect. */
  async open(url: string | URL, init: RequestInit = {}): Promise<Page> {
    const address = new URL(url);
    const jar = this.#cookies.get(address.host) ?? new Map<string, string>();
    this.#cookies.set(address.host, jar);
    const cookie = [...jar].map(([name, value]) => `${name}=${value}`).join('; ');
    const headers = new Headers(init.headers);
    if (cookie !== '') headers.set('Cookie', cookie);
    const response = await fetch(address, { ...init, headers, redirect: 'manual' });
    for (const line of response.headers.getSetCookie()) {
      const [name, value] = /^([^=]+)=([^;]*)/.exec(line)!.slice(1, 3) as [string, string];
      jar.set(name, value);
    }
    return { url: address, status: response.status, headers: response.headers, text: await response.text() };
  }

  /** Follows redirects until an address that begins with `target`, which is not requested; otherwise to the last page. */
  async follow(url: string | URL, target: string): Promise<URL> {
    let next = new URL(url);
    for (let redirects = 0; redirects < 10 && !next.href.startsWith(target); redirects += 1) {
      const page = await this.open(next);
      const location = page.headers.get('location');
      if (location === null) throw new Error(`${next.pathname} answered ${page.status}: ${page.text.slice(0, 500)}`);
      next = new URL(location, next);
    }
    return next;
  }

  cookies(host: string): Readonly<Record<string, string>> {
    return Object.fromEntries(this.#cookies.get(host) ?? []);
  }
}

/** The parameters of a fragment. */
export const fragmentOf = (url: URL): Record<string, string> =>
  Object.fromEntries(new URLSearchParams(url.hash.slice(1)));
