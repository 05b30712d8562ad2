/** Reads `/metrics` of a server. */

export type Scrape = {
  readonly text: string;
  /** By the whole series as Prometheus writes it, such as `jobs{job="a",state="b"}`. */
  readonly values: ReadonlyMap<string, number>;
  /** The names of all series without labels. A histogram has three: with `_bucket`, `_sum` and `_count`. */
  readonly names: ReadonlySet<string>;
};

export async function readMetrics(url: string): Promise<Scrape> {
  const response = await fetch(`${url}/metrics`);
  if (response.status !== 200) throw new Error(`/metrics answered ${response.status}`);
  const text = await response.text();
  const values = new Map<string, number>();
  const names = new Set<string>();
  for (const line of text.split('\n')) {
    const [, name, type] = /^# TYPE (\S+) (\S+)$/.exec(line) ?? [];
    if (name !== undefined) {
      for (const suffix of type === 'histogram' ? ['_bucket', '_sum', '_count'] : ['']) names.add(name + suffix);
    } else if (line !== '' && !line.startsWith('#')) {
      const space = line.lastIndexOf(' ');
      values.set(line.slice(0, space), Number(line.slice(space + 1)));
    }
  }
  return { text, values, names };
}
