import { expect, test } from 'vitest';
import { formatTraceparent, parseTraceparent } from './trace-context.ts';

const TRACE = '0af7651916cd43dd8448eb211c80319c';
const SPAN = 'b7ad6b7169203331';

test.each([
  [`00-${TRACE}-${SPAN}-01`, 1],
  [`00-${TRACE}-${SPAN}-00`, 0],
  [`00-${TRACE}-${SPAN}-03`, 1],
  [`01-${TRACE}-${SPAN}-01-more`, 1],
])('reads %s', (header, traceFlags) => {
  const context = parseTraceparent(header);
  expect(context).toEqual({ traceId: TRACE, spanId: SPAN, traceFlags, isRemote: true });
  expect(formatTraceparent(context!)).toBe(`00-${TRACE}-${SPAN}-0${traceFlags}`);
});

test.each([
  undefined,
  '',
  `ff-${TRACE}-${SPAN}-01`,
  `00-${'0'.repeat(32)}-${SPAN}-01`,
  `00-${TRACE}-${'0'.repeat(16)}-01`,
  `00-${TRACE.toUpperCase()}-${SPAN}-01`,
  `00-${TRACE}-${SPAN}`,
  `00-${TRACE}-${SPAN}-1`,
  `x00-${TRACE}-${SPAN}-01`,
])('ignores %j', (header) => {
  expect(parseTraceparent(header)).toBeNull();
});
