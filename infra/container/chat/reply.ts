import type { Finish, Step } from '../generation/generate.ts';
import type { ReplyHead, Usage } from '../reply.ts';
import type { TokenLogprob } from '../sampling/logprobs.ts';
import type { ContainerTokenizer } from '../tokenizer.ts';
import type { Delta, Message } from './deltas.ts';
import type { ChatPlan } from './plan.ts';

interface LogprobEntry {
  token: string;
  logprob: number;
  bytes: number[];
}

/** What a chunk or a choice says of its tokens; null where nobody asked. */
interface TokenFacts {
  logprobs: { content: (LogprobEntry & { top_logprobs: LogprobEntry[] })[] } | null;
  tokenIds: number[] | null;
}

/** Why a reply's choice ended: as the generation did, or with calls. */
interface ChoiceFinish {
  reason: Finish['reason'] | 'tool_calls';
  stopReason: Finish['stopReason'];
}

/** An answer that called tools, other than one named, and ended by itself finishes with `tool_calls`. */
export const toChoiceFinish = ({ reason, stopReason }: Finish, { called }: ChatPlan): ChoiceFinish => {
  const hasCalled = called.calls.length > 0 && !called.named && reason === 'stop' && stopReason === null;
  return { reason: hasCalled ? 'tool_calls' : reason, stopReason };
};

/** Steps of one answer in, what is told of their tokens out; probabilities are told of what a message shows, and not of its reasoning. */
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
  const told = steps.filter(({ channel }) => channel.kind === 'content' || channel.kind === 'call').map(({ logprob }) => logprob);
  const content = told.filter((logprob) => logprob !== null).map((one) => ({ ...toEntry(one), top_logprobs: one.top.map(toEntry) }));
  return {
    logprobs: generation.topLogprobs === null || content.length === 0 ? null : { content },
    tokenIds: showsTokenIds ? steps.map(({ token }) => token) : null,
  };
};

/** A finished answer: its message, what is told of its tokens, why it ended. */
interface Answer {
  message: Message;
  facts: TokenFacts;
  finish: ChoiceFinish;
}

/** Finished answers in, the body of a reply in one piece out; usage `undefined` leaves the key away. */
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

/** The first chunk of a choice; the prompt's tokens are on the first one of a stream, if asked for. */
export const toRoleChunk = (head: ReplyHead, index: number, promptTokenIds: readonly number[] | null) => ({
  ...chunk(head, [{ index, delta: { role: 'assistant', content: '' }, logprobs: null, finish_reason: null }]),
  ...(promptTokenIds && { prompt_token_ids: promptTokenIds }),
});

/** A piece of a choice's message, with what is told of the tokens since the last one. */
export const toDeltaChunk = (head: ReplyHead, index: number, delta: Delta, { logprobs, tokenIds }: TokenFacts) =>
  chunk(head, [{ index, delta, logprobs, finish_reason: null, ...(tokenIds && { token_ids: tokenIds }) }]);

/** The chunk that says why a choice ended. */
export const toFinishChunk = (head: ReplyHead, index: number, { reason, stopReason }: ChoiceFinish, { logprobs, tokenIds }: TokenFacts) =>
  chunk(head, [{ index, delta: {}, logprobs, finish_reason: reason, stop_reason: stopReason, ...(tokenIds && { token_ids: tokenIds }) }]);

/** The chunk after the last choice, sent to those who asked for usage. */
export const toUsageChunk = (head: ReplyHead, usage: Usage) => ({ ...chunk(head, []), usage });
