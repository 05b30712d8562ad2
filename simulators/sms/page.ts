/** The sandbox's page of all texts that the journal has sent. */
import { escapeHtml, renderSandboxPage } from '../page.ts';
import type { ReceivedSms } from './simulator.ts';

/** Lists the texts newest first. */
export function messagesPage(messages: readonly ReceivedSms[], to: string | null): string {
  const filter = to === null ? '' : `<p class="quiet">To ${escapeHtml(to)}. <a href="/sandbox/sms">Show all</a></p>`;
  const articles =
    messages.length === 0
      ? '<p>No texts yet. Reload this page once the journal has sent some.</p>'
      : messages.map(article).join('\n');
  return renderSandboxPage('Texts', `${filter}\n${articles}`);
}

const article = ({ to, text, at }: ReceivedSms): string => `<article>
<h2><a href="/sandbox/sms?to=${encodeURIComponent(to)}">${escapeHtml(to)}</a></h2>
<p class="quiet"><time datetime="${at}">${at.replace('T', ' ').slice(0, 19)} UTC</time></p>
<pre>${escapeHtml(text)}</pre>
</article>`;
