import type { Answer } from './conversation.ts';

/** The part that is still billed after an answer was stopped, by the state that it had. */
export const STOPPED: Readonly<Partial<Record<Answer['state'], string>>> = {
  sending:
    'You stopped before the answer began. If the model had already received the request, it completes the answer, and you are billed for all of it.',
  waking: 'You stopped before the deployment was ready. This request costs nothing, but the deployment keeps starting.',
  answering:
    'You stopped reading here. The model completes the answer, and you are billed for all of it. The cost appears when the answer is complete.',
};

/** The consequence of stopping an answer, for the user to read before they do. */
export const STOP_HINT =
  'If you stop, the model still completes the answer, and you are billed for all of it. “Max tokens” limits its length.';
