/** Codes of authenticator apps (RFC 6238): SHA-1, six digits, 30 seconds, one step of tolerance. */
import { Secret, TOTP } from 'otpauth';
import { renderSVG } from 'uqr';

/** Most authenticator apps ignore other values in the URI. */
const SETTINGS = { algorithm: 'SHA1', digits: 6, period: 30 };
/** 160 bits, as RFC 4226, section 4, recommends. */
const SECRET_BYTES = 20;

export type TotpEnrolment = {
  /** Base32. */
  secret: string;
  uri: string;
  /** An SVG document without `#` and `%`, because clients put it into a data URL as it is. */
  qrCode: string;
};

export function createTotpEnrolment({ issuer, label }: { issuer: string; label: string }): TotpEnrolment {
  const secret = new Secret({ size: SECRET_BYTES });
  // A colon separates issuer and account in the URI's label, so neither may contain one.
  const names = { issuer: issuer.replaceAll(':', ' '), label: label.replaceAll(':', ' ') };
  const uri = new TOTP({ ...SETTINGS, ...names, secret }).toString();
  return { secret: secret.base32, uri, qrCode: renderSVG(uri, { ecc: 'M', border: 2 }) };
}

type TotpCheck = { secret: string; code: string; now: Date };

/** Returns the time step of a valid code, or null. The caller must accept each step at most once. */
export function findTotpStep({ secret, code, now }: TotpCheck): number | null {
  if (!/^\d{6}$/.test(code)) return null;
  const totp = new TOTP({ ...SETTINGS, secret });
  const delta = totp.validate({ token: code, timestamp: now.getTime(), window: 1 });
  return delta === null ? null : totp.counter({ timestamp: now.getTime() }) + delta;
}
