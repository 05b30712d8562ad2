/** POST /otp: sends a one-time code to an address or a number (docs/specification/wire.md 25, 26). */
import type { Endpoint } from '../auth-deps.ts';
import { requireCaptcha } from '../captcha/require-captcha.ts';
import { requestPhoneCode } from '../phone/request-code.ts';
import { readBody } from '../wire/body.ts';
import { deviceOf } from '../wire/client-device.ts';
import { AuthError } from '../wire/errors.ts';

export const otp: Endpoint = async (context, deps) => {
  await deps.limits.consume('otp', deviceOf(context, deps).ip);
  const body = await readBody(context);
  await requireCaptcha(context, deps, body);
  const [email, phone] = [body.text('email'), body.text('phone')];
  if (email === '' && phone === '') throw new AuthError('otp_without_address');
  if (email !== '' && phone !== '') throw new AuthError('otp_with_both');
  if (email !== '' && body.text('channel') !== '') throw new AuthError('channel_without_phone');
  if (phone !== '') return requestPhoneCode(context, deps, body);
  throw new AuthError('magic_link_disabled');
};
