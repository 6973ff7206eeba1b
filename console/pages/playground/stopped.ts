import type { Answer } from './conversation.ts';

/** What is still billed after an answer was stopped, by the state that it had. */
export const STOPPED: Readonly<Partial<Record<Answer['state'], string>>> = {
  sending:
    'You stopped before the answer began. If the model had got the request, it goes on to the end of its answer, and all of it is billed.',
  waking: 'You stopped before the deployment was ready. This request costs nothing, but the deployment goes on starting.',
  answering:
    'You stopped reading here. The model goes on to the end of its answer, and all of it is billed. The cost appears when it has ended.',
};

/** What a user should know before they stop an answer. */
export const STOP_HINT = 'Stopping only stops reading: the whole answer is billed. “Max tokens” limits it.';
