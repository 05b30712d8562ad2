/** The ways to sign in that have a form of their own, on the sign-in page and in the overlay. */
import { lazyChunk } from '#client/ui/lazy-chunk.ts';

export const WAY_FORMS = {
  mailCode: lazyChunk(async () => (await import('./mail-code.tsx')).MailCode),
  phoneCode: lazyChunk(async () => (await import('./phone-code.tsx')).PhoneCode),
  wallet: lazyChunk(async () => (await import('./wallet.tsx')).Wallet),
};

export const WAY_LABELS = {
  mailCode: 'Email me a code',
  phoneCode: 'Text me a code',
  wallet: 'Continue with a wallet',
} as const;
