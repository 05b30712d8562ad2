import { expect, test } from 'vitest';
import { SettingsReader } from './settings-reader.ts';
import { isPushEndpoint, readPushSettings } from './provider-settings.ts';

function read(value?: string, isProduction = true) {
  const settings = new SettingsReader(value === undefined ? {} : { PUSH_SERVICES: value });
  return { push: readPushSettings(settings, isProduction), problems: settings.problems };
}
const accepts = (endpoint: string, value?: string, isProduction?: boolean) =>
  isPushEndpoint(endpoint, read(value, isProduction).push!);

test.each([
  'https://fcm.googleapis.com/fcm/send/abc:def',
  'https://updates.push.services.mozilla.com/wpush/v2/abc',
  'https://web.push.apple.com/abc',
  'https://wns2-par02p.notify.windows.com/w/?token=abc',
])('accepts the endpoint %s of a browser', (endpoint) => expect(accepts(endpoint)).toBe(true));

test.each([
  'http://fcm.googleapis.com/fcm/send/abc',
  'https://fcm.googleapis.com:8443/fcm/send/abc',
  'https://user:password@fcm.googleapis.com/abc',
  'https://fcm.googleapis.com@127.0.0.1/abc',
  'https://fcm.googleapis.com.example.com/abc',
  'https://evilfcm.googleapis.com/abc',
  'https://push.apple.com.example.com/abc',
  'https://evilpush.apple.com/abc',
  'https://fcm.googleapis.com./abc',
  'https://127.0.0.1/abc',
  'https://[::1]/abc',
  'https://169.254.169.254/latest/meta-data',
  'https://0x7f000001/abc',
  'https://localhost/abc',
  'http://127.0.0.1:5432/',
  'file:///etc/passwd',
  'fcm.googleapis.com',
  '',
])('refuses the endpoint %s', (endpoint) => expect(accepts(endpoint)).toBe(false));

test('the operator chooses the services, or none', () => {
  expect(accepts('https://push.example.org:8443/a', 'https://push.example.org:8443')).toBe(true);
  expect(accepts('https://push.example.org/a', 'https://push.example.org:8443')).toBe(false);
  expect(accepts('https://fcm.googleapis.com/a', 'https://push.example.org:8443')).toBe(false);
  expect(read('off')).toEqual({ push: null, problems: [] });
});

test.each(['*', '*.com:443', 'https://push.example.org/path', 'http://push.example.org', 'a b.example.org', ''])(
  'reports the unusable setting "%s"',
  (value) => {
    const { problems } = read(`${value},fcm.googleapis.com`);
    expect(problems.join()).toContain('PUSH_SERVICES');
  },
);

test('a simulator on this machine is for development alone', () => {
  expect(accepts('http://127.0.0.1:40000/push/send/a', 'http://127.0.0.1:40000', false)).toBe(true);
  expect(read('http://127.0.0.1:40000').problems.join()).toContain('PUSH_SERVICES');
});
