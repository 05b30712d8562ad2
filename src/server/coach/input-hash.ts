/** Cache key of an analysis: covers every input that affects the answer, so that the same input is paid for once. */
import { createHash } from 'node:crypto';
import type { CoachModel } from './model/model.ts';
import { PROMPT_VERSION, type Prompt } from './prompts.ts';

/** `PROMPT_VERSION` stands for the instructions: rewording them invalidates stored analyses only when it is raised. */
export function inputHash(model: CoachModel, { data }: Prompt): string {
  const { provider, model: name, replies } = model.describe();
  return createHash('sha256')
    .update(JSON.stringify([PROMPT_VERSION, provider, name, replies, data]))
    .digest('base64url');
}
