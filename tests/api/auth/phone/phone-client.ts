/** Requests of users who sign in by phone, and the codes that arrive. */
import { expect } from 'vitest';
import { PASSWORD, newNumber, type AuthWorld, type WireBody } from '../fixture.ts';

export const HOUR = 3_600_000;
/** Twilio's own test numbers. */
export const INVALID_NUMBER = '+15005550001';
export const UNSUBSCRIBED_NUMBER = '+15005550004';
/** The arguments of `setUpAuthWorld`. */
export const WITH_PHONE = [{ SMS_COUNTRIES: '+49,+1', AUTH_ANONYMOUS: 'on' }, { sms: 'on' }] as const;

export const digits = (phone: string): string => phone.slice(1);
export const otherCode = (code: string): string => (code === '000000' ? '111111' : '000000');

export function createPhoneClient(world: AuthWorld) {
  const codeTo = async (phone: string, count = 1): Promise<string> => (await world.waitForText(phone, count)).code!;
  const post = (path: string, body: unknown) => world.request('POST', path, { body });
  const verify = (phone: string, token: string, type = 'sms') => post('/verify', { type, phone, token });

  return {
    codeTo,
    post,
    verify,
    grant: (phone: string, password = PASSWORD) => post('/token?grant_type=password', { phone, password }),
    findUser: async (phone: string): Promise<WireBody> =>
      (await world.admin.query('select * from auth.users where phone = $1', [digits(phone)])).rows[0],

    /** A new account that a texted code has confirmed. */
    async signInByText(phone = newNumber()): Promise<{ phone: string; id: string; access: string; refresh: string }> {
      expect((await post('/otp', { phone })).status).toBe(200);
      const { status, body } = await verify(phone, await codeTo(phone));
      expect(status, JSON.stringify(body)).toBe(200);
      return { phone, id: body.user.id, access: body.access_token, refresh: body.refresh_token };
    },
  };
}
