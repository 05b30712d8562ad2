/** Waits for mails and texts in the sandbox and extracts their links and codes. Shared with the end-to-end tests. */
import { expect, type Page } from '@playwright/test';

type Mail = { to: string; subject: string; links: string[]; code: string | null };

/** Polls until `count` mails to `address` match, and returns the newest. */
async function waitForMail(page: Page, address: string, matches: (mail: Mail) => boolean, count = 1): Promise<Mail> {
  let found: Mail[] = [];
  await expect(async () => {
    const answer = await page.request.get(`/sandbox/mail/messages?to=${encodeURIComponent(address)}`);
    found = ((await answer.json()) as Mail[]).filter(matches);
    expect(found.length, `mails to ${address}`).toBeGreaterThanOrEqual(count);
  }).toPass({ timeout: 10_000 });
  return found[0]!;
}

/** Waits for a mail with a link that carries a token of this type, and returns the link. */
export async function waitForMailedLink(
  page: Page,
  address: string,
  type: 'signup' | 'recovery' | 'magiclink' | 'email_change',
): Promise<string> {
  const isLink = (link: string) => link.includes('token_hash=') && link.includes(`type=${type}`);
  const mail = await waitForMail(page, address, ({ links }) => links.some(isLink));
  return mail.links.find(isLink)!;
}

/** Waits for the mail that offers to keep an account, and returns the link. */
export async function waitForUndoLink(page: Page, address: string): Promise<string> {
  const isLink = (link: string) => link.includes('/undo-deletion?token_hash=');
  const mail = await waitForMail(page, address, ({ links }) => links.some(isLink));
  return mail.links.find(isLink)!;
}

/** Waits for the `count`th mail with a code, and returns the code of the newest. */
export async function waitForMailedCode(page: Page, address: string, count = 1): Promise<string> {
  const mail = await waitForMail(page, address, ({ code }) => code !== null, count);
  return mail.code!;
}

/** Waits for the `count`th text to a number, and returns the code of the newest. */
export async function waitForTextedCode(page: Page, phone: string, count = 1): Promise<string> {
  let texts: { code: string | null }[] = [];
  await expect(async () => {
    const answer = await page.request.get(`/sandbox/sms/messages?to=${encodeURIComponent(phone)}`);
    texts = (await answer.json()) as { code: string | null }[];
    expect(texts.length, `texts to ${phone}`).toBeGreaterThanOrEqual(count);
  }).toPass({ timeout: 10_000 });
  return texts[0]!.code!;
}
