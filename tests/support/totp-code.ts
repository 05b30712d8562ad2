/** The code that an authenticator app shows at `time`, in milliseconds since 1970. */
import { TOTP } from 'otpauth';

export const totpCode = (secret: string, time: number): string => new TOTP({ secret }).generate({ timestamp: time });
