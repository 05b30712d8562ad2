import { describe, expect, test } from 'vitest';
import { failureOf } from '../../../../tests/support/saml-documents.ts';
import { mapAttributes, parseAttributeMapping } from './sso-providers.ts';

describe('an attribute mapping', () => {
  const attributes = new Map([
    ['mail', ['', 'a@b.c', 'd@e.f']],
    ['long', ['x'.repeat(300)]],
  ]);

  test('takes the first value of the first name that has one, else the default', () => {
    const mapping = parseAttributeMapping({
      keys: {
        address: { name: 'nothing', names: ['none', 'mail'] },
        long: { name: 'long', array: false },
        level: { name: 'level', default: 3 },
        absent: { name: 'absent' },
      },
    });
    expect(mapAttributes(mapping, attributes)).toEqual({ address: 'a@b.c', long: 'x'.repeat(250), level: 3 });
  });

  test.each([
    [{ keys: [] }, 'keys must be an object'],
    [{ keys: { a: 'mail' } }, 'each key must have an object'],
    [{ keys: { a: { name: 7 } } }, 'name and names must be attribute names'],
    [{ keys: { a: { names: 'mail' } } }, 'name and names must be attribute names'],
    [{ keys: { a: { names: Array.from({ length: 11 }, String) } } }, 'name and names must be attribute names'],
    [{ keys: { a: { default: {} } } }, 'default must be a short text, number or boolean'],
    [{ keys: { a: { default: 'x'.repeat(251) } } }, 'default must be a short text, number or boolean'],
    [{ keys: { sub: { name: 'x' } } }, 'a key is not a valid claim name'],
    [JSON.parse('{"keys":{"__proto__":{"name":"x"}}}'), 'a key is not a valid claim name'],
    [
      { keys: Object.fromEntries(Array.from({ length: 21 }, (_, n) => [`a${n}`, {}])) },
      'at most 20 keys are supported',
    ],
  ])('%j is refused', (json, reason) =>
    expect(failureOf(() => parseAttributeMapping(json))).toBe(`attribute_mapping is not valid: ${reason}`),
  );
});
