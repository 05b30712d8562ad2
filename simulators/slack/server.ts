/**
 * Simulates Slack's slash commands: signs and sends them as Slack does, and shows the answers as the user who has typed
 * them would see them. The page `/sandbox/slack` has the message field of two people.
 */
import { createHmac, randomBytes } from 'node:crypto';
import { Hono } from 'hono';
import type { HostEnv } from '../host.ts';
import { escapeHtml, renderSandboxPage } from '../page.ts';

export const SLACK_SECRET = 'sandbox-slack-signing-secret';

/** The people of the simulated workspace. */
const PEOPLE = [
  { id: 'U0SANDBOX1', name: 'ada' },
  { id: 'U0SANDBOX2', name: 'ben' },
] as const;
const TEAM = { id: 'T0SANDBOX', domain: 'sandbox' };

export type SlashCommand = { userId: string; userName: string; text: string; command?: string; triggerId?: string };
type Sent = { user: string; text: string; status: number; answer: string };

/** The form of a command, as Slack escapes and encodes it. */
export function commandBody({ userId, userName, text, command = '/hustle', triggerId }: SlashCommand): string {
  return new URLSearchParams({
    token: 'deprecated',
    team_id: TEAM.id,
    team_domain: TEAM.domain,
    channel_id: 'C0SANDBOX',
    channel_name: 'general',
    user_id: userId,
    user_name: userName,
    command,
    text: text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;'),
    api_app_id: 'A0SANDBOX',
    is_enterprise_install: 'false',
    response_url: 'https://hooks.slack.example/commands/1',
    trigger_id: triggerId ?? `1.2.${randomBytes(16).toString('hex')}`,
  }).toString();
}

/** https://docs.slack.dev/authentication/verifying-requests-from-slack */
export function signedHeaders(body: string, secret: string, atMs: number): Record<string, string> {
  const timestamp = String(Math.floor(atMs / 1_000));
  const digest = createHmac('sha256', secret).update(`v0:${timestamp}:${body}`).digest('hex');
  return {
    'Content-Type': 'application/x-www-form-urlencoded',
    'User-Agent': 'Slackbot 1.0 (+https://api.slack.com/robots)',
    'X-Slack-Request-Timestamp': timestamp,
    'X-Slack-Signature': `v0=${digest}`,
  };
}

/** Sends a command to the product's request URL. */
async function sendCommand(requestUrl: string, command: SlashCommand): Promise<{ status: number; text: string }> {
  const body = commandBody(command);
  const response = await fetch(requestUrl, {
    method: 'POST',
    headers: signedHeaders(body, SLACK_SECRET, Date.now()),
    body,
  });
  const answer = (await response.json().catch(() => ({}))) as { text?: string };
  return { status: response.status, text: answer.text ?? '' };
}

/** An app to mount into another server at its root. */
export function createSlackApp(publicUrl: string): Hono<HostEnv> {
  const sent: Sent[] = [];
  const app = new Hono<HostEnv>();
  app.get('/sandbox/slack', (context) => context.html(slackPage(sent), 200, { 'Cache-Control': 'no-store' }));
  app.post('/sandbox/slack', async (context) => {
    const form = new URLSearchParams(await context.req.text());
    const person = PEOPLE.find(({ id }) => id === form.get('user')) ?? PEOPLE[0];
    const [, command = '/hustle', text = ''] = /^(\/[\w-]+)\s*(.*)$/s.exec(form.get('message') ?? '') ?? [];
    const { status, text: answer } = await sendCommand(`${publicUrl}/functions/v1/slack`, {
      userId: person.id,
      userName: person.name,
      command,
      text,
    });
    sent.unshift({ user: person.name, text: `${command} ${text}`.trim(), status, answer });
    sent.length = Math.min(sent.length, 50);
    return context.redirect('/sandbox/slack', 303);
  });
  return app;
}

export const SLACK_SETTINGS = { SLACK_SIGNING_SECRET: SLACK_SECRET };

/** The part of mrkdwn that the product sends: a link and code. */
const renderMrkdwn = (text: string): string =>
  escapeHtml(text.replaceAll('&amp;', '&'))
    .replaceAll(/&lt;(https?:[^|<>\s]+?)\|([^<>]*?)&gt;/g, '<a href="$1">$2</a>')
    .replaceAll(/`([^`]+)`/g, '<code>$1</code>');

function slackPage(sent: readonly Sent[]): string {
  const people = PEOPLE.map(({ id, name }) => `<option value="${id}">${name}</option>`).join('');
  const messages = sent.map(
    ({ user, text, status, answer }) => `<article>
<h2>${escapeHtml(user)}</h2>
<pre>${escapeHtml(text)}</pre>
<p>${status === 200 ? renderMrkdwn(answer) : `The app answered ${status}.`}</p>
<p class="quiet">Only visible to ${escapeHtml(user)}</p>
</article>`,
  );
  return renderSandboxPage(
    'Slack',
    `<form method="post" action="/sandbox/slack">
<p><label class="wide">Write as <select name="user">${people}</select></label></p>
<p><label class="wide">Message <input type="text" name="message" value="/hustle " maxlength="3000" autocomplete="off" required></label></p>
<p><button type="submit">Send</button></p>
</form>
<p class="quiet">Send <code>/hustle link</code> first, then <code>/hustle Shipped it</code>.</p>
${messages.join('\n')}`,
  );
}
