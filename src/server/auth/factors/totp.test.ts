import { Secret } from 'otpauth';
import { describe, expect, test } from 'vitest';
import { createTotpEnrolment, findTotpStep } from './totp.ts';

/** The secret of RFC 6238, appendix B. Its codes have eight digits, of which six digits show the last ones. */
const SECRET = Secret.fromUTF8('12345678901234567890').base32;

describe('a code', () => {
  test.each([
    [59, '287082'],
    [1_111_111_109, '081804'],
    [1_111_111_111, '050471'],
    [1_234_567_890, '005924'],
    [2_000_000_000, '279037'],
    [20_000_000_000, '353130'],
  ])('of RFC 6238 is valid at second %d, one step before and one after', (second, code) => {
    const step = Math.floor(second / 30);
    const find = (shift: number) => findTotpStep({ secret: SECRET, code, now: new Date((second + shift * 30) * 1000) });
    expect([-2, -1, 0, 1, 2].map(find)).toEqual([null, step, step, step, null]);
  });

  test.each(['', '28708', '2870820', '28708a', ' 287082', '٢٨٧٠٨٢'])('is refused: %j', (code) => {
    expect(findTotpStep({ secret: SECRET, code, now: new Date(59_000) })).toBeNull();
  });
});

test('an enrolment has 160 bits, and its URI one colon', () => {
  const { secret, uri, qrCode } = createTotpEnrolment({ issuer: 'A: B', label: 'ada:x@example.com' });
  expect(Secret.fromBase32(secret).bytes).toHaveLength(20);
  const { pathname, searchParams } = new URL(uri);
  expect(decodeURIComponent(pathname).match(/:/g)).toHaveLength(1);
  expect([searchParams.get('secret'), searchParams.get('issuer')]).toEqual([secret, 'A  B']);
  expect(qrCode).not.toMatch(/[#%]/);
});
