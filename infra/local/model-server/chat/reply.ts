import type { Finish, Step } from '../generation/generate.ts';
import type { ContainerTokenizer } from '../model/tokenizer.ts';
import type { ReplyHead, Usage } from '../replies/reply.ts';
import type { TokenLogprob } from '../sampling/logprobs.ts';
import type { Delta, Message } from './deltas.ts';
import type { ChatPlan } from './plan.ts';

interface LogprobEntry {
  token: string;
  logprob: number;
  bytes: number[];
}

// Null unless requested.
interface TokenFacts {
  logprobs: { content: (LogprobEntry & { top_logprobs: LogprobEntry[] })[] } | null;
  tokenIds: number[] | null;
}

type ChoiceFinish = Finish | { reason: 'tool_calls'; stopReason: null };

/**
 * Changes the finish to `tool_calls` if the answer has tool calls and ended by itself, unless the request names the
 * tool.
 */
export const toChoiceFinish = (finish: Finish, { called }: ChatPlan): ChoiceFinish => {
  const hasCalled = called.calls.length > 0 && !called.named && finish.reason === 'stop' && finish.stopReason === null;
  return hasCalled ? { reason: 'tool_calls', stopReason: null } : finish;
};

/** Returns the token details of some steps of one answer. Reasoning has no logprobs. */
export const toTokenFacts = (
  steps: readonly Step[],
  { generation, showsTokenIds }: ChatPlan,
  tokenizer: ContainerTokenizer,
): TokenFacts => {
  const toEntry = ({ token, logprob }: TokenLogprob): LogprobEntry => ({
    token: tokenizer.decode([token], true),
    logprob,
    bytes: [...tokenizer.tokenBytes(token, true)],
  });
  const logprobs = steps.filter(({ channel }) => channel.kind === 'content' || channel.kind === 'call').map(({ logprob }) => logprob);
  const content = logprobs.filter((logprob) => logprob !== null).map((one) => ({ ...toEntry(one), top_logprobs: one.top.map(toEntry) }));
  return {
    logprobs: generation.topLogprobs === null || content.length === 0 ? null : { content },
    tokenIds: showsTokenIds ? steps.map(({ token }) => token) : null,
  };
};

interface Answer {
  message: Message;
  facts: TokenFacts;
  finish: ChoiceFinish;
}

/** Returns the body of a non-streamed response; without `usage` if that is undefined. */
export const toCompletion = (
  { id, created, model }: ReplyHead,
  answers: readonly Answer[],
  promptTokenIds: readonly number[] | null,
  usage: Usage | undefined,
) => ({
  id,
  object: 'chat.completion',
  created,
  model,
  choices: answers.map(toChoice),
  ...(usage && { usage: { ...usage, prompt_tokens_details: null } }),
  prompt_logprobs: null,
  prompt_token_ids: promptTokenIds,
});

const toChoice = ({ message: { content, reasoning, toolCalls }, facts, finish }: Answer, index: number) => ({
  index,
  message: {
    role: 'assistant',
    content: content === '' && (toolCalls.length > 0 || reasoning !== '') ? null : content,
    refusal: null,
    annotations: null,
    audio: null,
    function_call: null,
    tool_calls: toolCalls,
    reasoning: reasoning === '' ? null : reasoning,
  },
  logprobs: facts.logprobs,
  finish_reason: finish.reason,
  stop_reason: finish.stopReason,
  token_ids: facts.tokenIds,
});

const chunk = ({ id, created, model }: ReplyHead, choices: readonly object[]) => ({
  id,
  object: 'chat.completion.chunk',
  created,
  model,
  choices,
});

/** The first chunk of a choice. The first chunk of a stream also has the prompt's token ids, if requested. */
export const toRoleChunk = (head: ReplyHead, index: number, promptTokenIds: readonly number[] | null) => ({
  ...chunk(head, [{ index, delta: { role: 'assistant', content: '' }, logprobs: null, finish_reason: null }]),
  ...(promptTokenIds && { prompt_token_ids: promptTokenIds }),
});

/** A chunk with a part of a choice's message, and the details of the tokens since the last chunk. */
export const toDeltaChunk = (head: ReplyHead, index: number, delta: Delta, { logprobs, tokenIds }: TokenFacts) =>
  chunk(head, [{ index, delta, logprobs, finish_reason: null, ...(tokenIds && { token_ids: tokenIds }) }]);

/** The last chunk of a choice. */
export const toFinishChunk = (head: ReplyHead, index: number, { reason, stopReason }: ChoiceFinish, { logprobs, tokenIds }: TokenFacts) =>
  chunk(head, [{ index, delta: {}, logprobs, finish_reason: reason, stop_reason: stopReason, ...(tokenIds && { token_ids: tokenIds }) }]);

/** The last chunk of a stream whose request asks for usage. */
export const toUsageChunk = (head: ReplyHead, usage: Usage) => ({ ...chunk(head, []), usage });
