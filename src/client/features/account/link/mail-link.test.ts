import { expect, test } from 'vitest';
import { readMailLink } from './mail-link.ts';

test.each([
  [
    'access_token=a&refresh_token=r&type=recovery',
    { kind: 'tokens', type: 'recovery', access_token: 'a', refresh_token: 'r' },
  ],
  ['token_hash=h&type=signup&', { kind: 'hash', type: 'signup', tokenHash: 'h' }],
  ['token_hash=h&type=unknown', { kind: 'hash', type: 'magiclink', tokenHash: 'h' }],
  ['&error=access_denied&error_code=otp_expired&error_description=Words', { kind: 'error', code: 'otp_expired' }],
  ['error=server_error', { kind: 'error', code: 'server_error' }],
  ['error_code=otp_expired&access_token=a&refresh_token=r', { kind: 'error', code: 'otp_expired' }],
  ['&message=Confirmation+link+accepted&sb=', { kind: 'firstConfirmed' }],
  ['access_token=a&type=recovery', { kind: 'error', code: '' }],
  ['token_hash=&type=signup', { kind: 'error', code: '' }],
])('parses %s', (query, link) => expect(readMailLink(query)).toEqual(link));
