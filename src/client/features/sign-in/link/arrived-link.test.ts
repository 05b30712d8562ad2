import { expect, test } from 'vitest';
import { readArrivedLink } from './arrived-link.ts';

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
  [
    'flow=link&provider=google&sb_flow_id=0123456789abcdef&code=c&',
    { kind: 'code', code: 'c', flowId: '0123456789abcdef', flow: 'link', provider: 'google' },
  ],
  ['code=c', { kind: 'code', code: 'c', flowId: null, flow: 'signIn', provider: '' }],
  ['flow=other&code=c', { kind: 'code', code: 'c', flowId: null, flow: 'signIn', provider: '' }],
  [
    'flow=signIn&provider=github&error=access_denied&error_code=signup_disabled&code=c',
    { kind: 'providerError', code: 'signup_disabled', flow: 'signIn', provider: 'github' },
  ],
  ['token_hash=&type=signup', { kind: 'error', code: '' }],
])('parses %s', (query, link) => expect(readArrivedLink(query)).toEqual(link));
