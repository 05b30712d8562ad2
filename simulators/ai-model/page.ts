/** The sandbox's page of all requests to the model and their answers. */
import { escapeHtml, renderSandboxPage } from '../page.ts';
import type { ModelRequest } from './simulator.ts';

/** Lists the requests newest first. */
export function requestsPage(requests: readonly ModelRequest[]): string {
  const intro = `<p class="stamp">Sandbox model: simple rules, no AI</p>
<p>This simulates the AI service. It counts finished items and numbers. Below is everything that the journal has sent to
it.</p>`;
  const articles = requests.length === 0 ? '<p>No requests yet.</p>' : [...requests].reverse().map(article).join('\n');
  return renderSandboxPage('Coach', `${intro}\n${articles}`);
}

const END_LABELS: Readonly<Record<ModelRequest['end'], string>> = {
  underway: 'in progress',
  whole: 'answered',
  cut: 'interrupted',
  left: 'cancelled by the client',
};

const article = ({ wire, prompt, answer, status, end }: ModelRequest): string => `<article>
<h2>Question</h2>
<p class="quiet">${wire}, ${status === null || status === 200 ? END_LABELS[end] : `rejected with ${status}`}</p>
<pre>${escapeHtml(prompt ?? 'The request could not be parsed.')}</pre>
${answer === null ? '' : `<p class="quiet">Answer</p>\n<pre>${escapeHtml(answer)}</pre>`}
</article>`;
