/**
 * Loads the modules of prom-client by their own paths: the package's index also loads its push gateway, cluster support
 * and default metrics, which is 8 MB of resident memory for code that never runs here (docs/decisions/0019).
 */
import { createRequire } from 'node:module';
import type * as PromClient from 'prom-client';

const load = createRequire(import.meta.url);
export const Registry = load('prom-client/lib/registry.js') as typeof PromClient.Registry;
export const Histogram = load('prom-client/lib/histogram.js') as typeof PromClient.Histogram;
export const Counter = load('prom-client/lib/counter.js') as typeof PromClient.Counter;
export const Gauge = load('prom-client/lib/gauge.js') as typeof PromClient.Gauge;

export type MetricsRegistry = PromClient.Registry;
export type GaugeOf<Label extends string> = PromClient.Gauge<Label>;
/** How the values of several worker processes become one: prom-client's own names. */
export type Aggregator = 'sum' | 'first' | 'min' | 'max' | 'average' | 'omit';
