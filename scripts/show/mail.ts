/** Reads the sandbox's mailbox the way a person does: waits for a mail and takes the link or the code out of it. */
import { expect } from '@playwright/test';
import type { Page } from '@playwright/test';

type Mail = { to: string; subject: string; links: string[]; code: string | null };

/** The newest mail to an address whose subject or text matches; waits for it to arrive. */
async function mailTo(page: Page, address: string, wanted: (mail: Mail) => boolean = () => true): Promise<Mail> {
  let found: Mail | undefined;
  await expect(async () => {
    const answer = await page.request.get(`/sandbox/mail/messages?to=${encodeURIComponent(address)}`);
    found = ((await answer.json()) as Mail[]).find(wanted);
    expect(found, `a mail to ${address}`).toBeDefined();
  }).toPass({ timeout: 10_000 });
  return found!;
}

/** The address in the newest mail that leads to one of our pages and carries a token of this type. */
export async function linkTo(
  page: Page,
  address: string,
  type: 'signup' | 'recovery' | 'email_change',
): Promise<string> {
  const isLink = (link: string) => link.includes('token_hash=') && link.includes(`type=${type}`);
  const mail = await mailTo(page, address, ({ links }) => links.some(isLink));
  return mail.links.find(isLink)!;
}

/** The code in the newest mail that carries one. */
export async function codeTo(page: Page, address: string): Promise<string> {
  const mail = await mailTo(page, address, ({ code }) => code !== null);
  return mail.code!;
}
