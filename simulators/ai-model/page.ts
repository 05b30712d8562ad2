/** What people see of the model in the sandbox: every question that the journal has sent, word for word, and its answer. */
import { escapeHtml, sandboxDocument } from '../page.ts';
import type { ModelRequest } from './simulator.ts';

/** Newest first. */
export function questionsPage(requests: readonly ModelRequest[]): string {
  const intro = `<p class="stamp">Sandbox model: no intelligence, a rule of thumb</p>
<p>This stands in for the AI service. It counts what was finished and how much it was, and that is all it knows. Below is
everything that the journal has sent to it.</p>`;
  const asked = requests.length === 0 ? '<p>No question yet.</p>' : [...requests].reverse().map(article).join('\n');
  return sandboxDocument('Coach', `${intro}\n${asked}`);
}

const ENDS: Readonly<Record<ModelRequest['end'], string>> = {
  underway: 'being answered',
  whole: 'answered',
  cut: 'cut off',
  left: 'the asker left',
};

const article = ({ wire, prompt, said, status, end }: ModelRequest): string => `<article>
<h2>Question</h2>
<p class="quiet">${wire}, ${status === null || status === 200 ? ENDS[end] : `refused with ${status}`}</p>
<pre>${escapeHtml(prompt ?? 'It could not be read.')}</pre>
${said === null ? '' : `<p class="quiet">Answer</p>\n<pre>${escapeHtml(said)}</pre>`}
</article>`;
