import { randomUUID } from 'node:crypto';
import type { Finish } from './generate.ts';

/** What all chunks of one reply share: the id, the Unix time in seconds, the served model's name. */
export type ReplyHead = { id: string; created: number; model: string };

export type Usage = { prompt_tokens: number; total_tokens: number; completion_tokens: number };

export const createReplyHead = (modelName: string): ReplyHead => ({
  id: `chatcmpl-${randomUUID().replaceAll('-', '')}`,
  created: Math.floor(Date.now() / 1_000),
  model: modelName,
});

/** Token counts in, vLLM's usage object out. */
export const toUsage = (promptTokens: number, completionTokens: number): Usage => ({
  prompt_tokens: promptTokens,
  total_tokens: promptTokens + completionTokens,
  completion_tokens: completionTokens,
});

/** A finished answer in, the body of a non-stream reply out; usage `undefined` leaves the key away. */
export const toCompletion = ({ id, created, model }: ReplyHead, content: string, finish: Finish, usage: Usage | undefined) => ({
  id,
  object: 'chat.completion',
  created,
  model,
  choices: [
    {
      index: 0,
      message: {
        role: 'assistant',
        content,
        refusal: null,
        annotations: null,
        audio: null,
        function_call: null,
        tool_calls: [],
        reasoning: null,
      },
      logprobs: null,
      finish_reason: finish.reason,
      stop_reason: finish.stopReason,
      token_ids: null,
    },
  ],
  ...(usage && { usage: { ...usage, prompt_tokens_details: null } }),
  prompt_logprobs: null,
  prompt_token_ids: null,
});

const chunk = ({ id, created, model }: ReplyHead, choices: readonly object[]) => ({
  id,
  object: 'chat.completion.chunk',
  created,
  model,
  choices,
});

/** The first chunk of a stream. */
export const toRoleChunk = (head: ReplyHead) =>
  chunk(head, [{ index: 0, delta: { role: 'assistant', content: '' }, logprobs: null, finish_reason: null }]);

/** The chunk of one token's text. */
export const toTextChunk = (head: ReplyHead, content: string) =>
  chunk(head, [{ index: 0, delta: { content }, logprobs: null, finish_reason: null }]);

/** The chunk that says why the answer ended. */
export const toFinishChunk = (head: ReplyHead, { reason, stopReason }: Finish) =>
  chunk(head, [{ index: 0, delta: {}, logprobs: null, finish_reason: reason, stop_reason: stopReason }]);

/** The chunk after the last choice, sent to those who asked for usage. */
export const toUsageChunk = (head: ReplyHead, usage: Usage) => ({ ...chunk(head, []), usage });
