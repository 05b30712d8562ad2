import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createEventParser } from './event-stream.ts';

const STREAM =
  ': hello\n\nevent: score\ndata: {"score":7}\n\nevent: text\r\ndata: {"delta":"a"}\r\n\r\nid: 1\ndata: x\ndata:y\n\nevent: gone\n\n: beat\n\ndata\n\n';
const EVENTS = [
  { event: 'score', data: '{"score":7}' },
  { event: 'text', data: '{"delta":"a"}' },
  { event: 'message', data: 'x\ny', id: '1' },
  { event: 'message', data: '' },
];

test('parses comments, line ends and fields', () => {
  expect(createEventParser()(STREAM)).toEqual(EVENTS);
});

test('returns the same events wherever the stream is split', () => {
  fc.assert(
    fc.property(fc.array(fc.nat(STREAM.length), { maxLength: 12 }), (cuts) => {
      const parse = createEventParser();
      const places = [0, ...cuts.sort((a, b) => a - b), STREAM.length];
      const events = places.slice(1).flatMap((to, index) => parse(STREAM.slice(places[index], to)));
      expect(events).toEqual(EVENTS);
    }),
  );
});

test('returns no event before its closing blank line', () => {
  const parse = createEventParser();
  expect(parse('event: done\ndata: {"score":7}\n')).toEqual([]);
});
