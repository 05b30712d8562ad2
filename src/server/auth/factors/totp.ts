/** Codes of authenticator apps (RFC 6238): SHA-1, six digits, 30 seconds, one step of tolerance. */
import { generateSecret, generateURI, verify } from 'otplib';
import { renderSVG } from 'uqr';

const STEP_SECONDS = 30;

export type TotpEnrolment = {
  /** Base32. */
  secret: string;
  uri: string;
  /** An SVG document without `#` and `%`, because clients put it into a data URL as it is. */
  qrCode: string;
};

export function createTotpEnrolment({ issuer, label }: { issuer: string; label: string }): TotpEnrolment {
  const secret = generateSecret();
  // A colon separates issuer and account in the URI's label, so neither may contain one.
  const uri = generateURI({ issuer: issuer.replaceAll(':', ' '), label: label.replaceAll(':', ' '), secret });
  return { secret, uri, qrCode: renderSVG(uri, { ecc: 'M', border: 2 }) };
}

type TotpCheck = { secret: string; code: string; now: Date };

/** Returns the time step of a valid code, or null. The caller must accept each step at most once. */
export async function findTotpStep({ secret, code, now }: TotpCheck): Promise<number | null> {
  if (!/^\d{6}$/.test(code)) return null;
  const epoch = Math.floor(now.getTime() / 1000);
  const result = await verify({ secret, token: code, epoch, period: STEP_SECONDS, epochTolerance: STEP_SECONDS });
  return result.valid && 'timeStep' in result ? result.timeStep : null;
}
