/** The header `traceparent` (https://www.w3.org/TR/trace-context/). */
import type { SpanContext } from '@opentelemetry/api';

const TRACEPARENT = /^[\da-f]{2}-(?<traceId>[\da-f]{32})-(?<spanId>[\da-f]{16})-(?<flags>[\da-f]{2})(?:-.*)?$/;
const INVALID = /^(?:ff-|[\da-f]{2}-0{32}-|[\da-f]{2}-[\da-f]{32}-0{16}-)/;

export function parseTraceparent(header: string | undefined): SpanContext | null {
  if (header === undefined || INVALID.test(header)) return null;
  const { traceId, spanId, flags } = TRACEPARENT.exec(header)?.groups ?? {};
  if (traceId === undefined || spanId === undefined || flags === undefined) return null;
  return { traceId, spanId, traceFlags: Number.parseInt(flags, 16) & 1, isRemote: true };
}

export const formatTraceparent = ({ traceId, spanId, traceFlags }: SpanContext): string =>
  `00-${traceId}-${spanId}-0${traceFlags & 1}`;
