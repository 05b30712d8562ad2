/** What an analysis is recognised by: everything that decides what is said. The same is not paid for twice. */
import { createHash } from 'node:crypto';
import type { CoachModel } from './model/model.ts';
import { PROMPT_VERSION } from './prompts.ts';
import type { Prompt } from './prompts.ts';

/** The version stands for the instructions, so that a better wording of them is a new version on purpose. */
export function inputHash(model: CoachModel, { data }: Prompt): string {
  const { provider, model: name, replies } = model.describe();
  return createHash('sha256')
    .update(JSON.stringify([PROMPT_VERSION, provider, name, replies, data]))
    .digest('base64url');
}
