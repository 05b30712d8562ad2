import fc from 'fast-check';
import { expect, test } from 'vitest';
import { measureCpuMs } from '../../../../tests/support/cpu-time.ts';
import { describeDevice } from '../http/device.ts';

const WEBKIT = 'AppleWebKit/537.36 (KHTML, like Gecko)';
const IOS = 'AppleWebKit/605.1.15 (KHTML, like Gecko)';

test.each([
  [`Mozilla/5.0 (Windows NT 10.0; Win64; x64) ${WEBKIT} Chrome/141.0.0.0 Safari/537.36`, 'Chrome on Windows'],
  [
    `Mozilla/5.0 (Windows NT 10.0; Win64; x64) ${WEBKIT} Chrome/141.0.0.0 Safari/537.36 Edg/141.0.0.0`,
    'Edge on Windows',
  ],
  [`Mozilla/5.0 (X11; Linux x86_64) ${WEBKIT} Chrome/141.0.0.0 Safari/537.36 OPR/122.0.0.0`, 'Opera on Linux'],
  ['Mozilla/5.0 (Macintosh; Intel Mac OS X 10.15; rv:143.0) Gecko/20100101 Firefox/143.0', 'Firefox on Mac'],
  [`Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) ${IOS} Version/26.0 Safari/605.1.15`, 'Safari on Mac'],
  [
    `Mozilla/5.0 (iPhone; CPU iPhone OS 18_6 like Mac OS X) ${IOS} Version/26.0 Mobile/15E148 Safari/604.1`,
    'Safari on iPhone',
  ],
  [
    `Mozilla/5.0 (iPhone; CPU iPhone OS 18_6 like Mac OS X) ${IOS} CriOS/141.0.7390.26 Mobile/15E148 Safari/604.1`,
    'Chrome on iPhone',
  ],
  [`Mozilla/5.0 (iPad; CPU OS 18_6 like Mac OS X) ${IOS} FxiOS/143.0 Mobile/15E148 Safari/604.1`, 'Firefox on iPad'],
  [`Mozilla/5.0 (Linux; Android 10; K) ${WEBKIT} Chrome/141.0.0.0 Mobile Safari/537.36`, 'Chrome on Android'],
  [
    `Mozilla/5.0 (Linux; Android 10; K) ${WEBKIT} SamsungBrowser/28.0 Chrome/130.0.0.0 Mobile Safari/537.36`,
    'Samsung Internet on Android',
  ],
  ['Mozilla/5.0 (Android 15; Mobile; rv:143.0) Gecko/143.0 Firefox/143.0', 'Firefox on Android'],
  [`Mozilla/5.0 (X11; CrOS x86_64 14541.0.0) ${WEBKIT} Chrome/141.0.0.0 Safari/537.36`, 'Chrome on ChromeOS'],
  ['Mozilla/5.0 (compatible; Something/1.0; Windows NT 10.0)', 'Windows'],
  ['node', 'An app'],
  ['curl/8.9.1', 'curl'],
  ['<script>alert(1)</script>', 'Unknown device'],
  ['', 'Unknown device'],
  [null, 'Unknown device'],
])('describes %s as %s', (userAgent, device) => expect(describeDevice(userAgent)).toBe(device));

test('describes any header in known words, and backtracks little for a long one', async () => {
  const known = /^(?:Unknown device|An app|curl|[A-Z][A-Za-z ]{2,15}(?: on [A-Za-z]{3,8})?)$/;
  const parts = fc.constantFrom('Version/', 'Safari/', 'Chrome/', 'Windows', '1.1', ' ', '<b>', '\u202e', '"', 'OPR/');
  fc.assert(
    fc.property(
      fc.oneof(
        fc.string({ maxLength: 500 }),
        fc.array(parts).map((all) => all.join('')),
      ),
      (header) => {
        expect(describeDevice(header)).toMatch(known);
      },
    ),
  );
  expect(await measureCpuMs(() => describeDevice('Version/1'.repeat(55)))).toBeLessThan(1_000);
});
