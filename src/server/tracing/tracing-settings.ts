/** The settings of traces, by the names of OpenTelemetry's specification. */
import { Secret } from '../config/secret.ts';
import type { SettingsReader } from '../config/settings-reader.ts';

export type TracingSettings = {
  /** The collector's base address; spans go to `/v1/traces` below it. */
  readonly url: string;
  /** Sent with each export, such as the key of a hosted collector. */
  readonly headers: ReadonlyMap<string, Secret>;
  readonly serviceName: string;
  /** The share of traces that are recorded, from 0 to 1. */
  readonly ratio: number;
};

/** Null: no traces. */
export function readTracingSettings(settings: SettingsReader): TracingSettings | null {
  const url = settings.url('OTEL_EXPORTER_OTLP_ENDPOINT', 'http://127.0.0.1:4318', null);
  const headers = readHeaders(settings);
  const serviceName = settings.text('OTEL_SERVICE_NAME', 'hustle-forge');
  const share = settings.text('OTEL_TRACES_SAMPLER_ARG', '1');
  const ratio = Number(share);
  if (!/^(?:0(?:\.\d+)?|1(?:\.0+)?)$/.test(share))
    settings.problem('OTEL_TRACES_SAMPLER_ARG', 'must be a share from 0 to 1', '0.1');
  return url === null ? null : { url, headers, serviceName, ratio };
}

/** `name=value` pairs, separated by commas. A value may be percent-encoded, as in W3C Baggage. */
function readHeaders(settings: SettingsReader): ReadonlyMap<string, Secret> {
  const headers = new Map<string, Secret>();
  for (const pair of settings.list('OTEL_EXPORTER_OTLP_HEADERS')) {
    const [, name, value] = /^([\w-]+)=([\x21-\x7e]+)$/.exec(pair) ?? [];
    if (name === undefined || value === undefined || !isDecodable(value)) {
      settings.problem('OTEL_EXPORTER_OTLP_HEADERS', 'must be pairs NAME=VALUE separated by commas', 'x-api-key=…');
      break;
    }
    headers.set(name.toLowerCase(), new Secret(decodeURIComponent(value)));
  }
  return headers;
}

function isDecodable(value: string): boolean {
  try {
    decodeURIComponent(value);
    return true;
  } catch {
    return false;
  }
}
