import { forcedAnswer, formattedAnswer } from '../constrained/formatted-answer.ts';
import { type Channel, endingPhase, forcedPhase, freePhase, type Phase, reasoningPhase } from '../generation/phase.ts';
import type { ContainerTokenizer } from '../model/tokenizer.ts';
import { BadRequest } from '../requests/errors.ts';
import type { CalledTools } from './called-tools.ts';
import { textOf } from './prompt.ts';
import type { ChatRequest } from './request.ts';

const MAX_REASONING_TOKENS = { none: 0, low: 16, medium: 48, high: 96 };
const END_OF_REASONING = '\n</think>\n\n';

// The model writes a tool call as `name(arguments)`. Clients see only the arguments.
const callOpening = (name: string): string => `${name}(`;
const CALL_CLOSING = ')\n';

const HIDDEN: Channel = { kind: 'hidden' };

/** Returns a function that creates the phases of one answer. `reasoningTokens` is the most tokens for reasoning. */
export const answerPhases = (body: ChatRequest, called: CalledTools, reasoningTokens: number, tokenizer: ContainerTokenizer) => {
  const { endOfTurn } = tokenizer.specials;
  const createAnswer = plainAnswer(body, called, tokenizer);
  if (reasoningTokens === 0) return createAnswer;
  const end = tokenizer.encodeText(END_OF_REASONING);
  return (): Phase[] => [reasoningPhase(reasoningTokens, endOfTurn, tokenizer.tokenBytes), forcedPhase(HIDDEN, end), ...createAnswer()];
};

/**
 * Returns the most reasoning tokens for an answer: the effort or the budget, whichever is smaller, and at most half
 * of `maxTokens`; none if the answer continues a message. Throws `BadRequest` for a budget if the model doesn't reason.
 */
export const reasoningTokensOf = (body: ChatRequest, reasons: boolean, maxTokens: number): number => {
  const { thinking_token_budget: budget, reasoning_effort: effort, chat_template_kwargs: variables } = body;
  if (!reasons) {
    if (typeof budget !== 'number') return 0;
    const advice = 'Please set --reasoning-config to use thinking_token_budget.';
    throw new BadRequest(`thinking_token_budget is set but reasoning_config is not configured. ${advice}`);
  }
  if (variables?.enable_thinking === false || body.continue_final_message) return 0;
  return Math.min(MAX_REASONING_TOKENS[effort ?? 'medium'], budget ?? Infinity, Math.floor(maxTokens / 2));
};

const plainAnswer = (body: ChatRequest, called: CalledTools, tokenizer: ContainerTokenizer): (() => Phase[]) => {
  if (called.calls.length > 0) return callPhases(called, tokenizer);
  const results = toolResults(body);
  const createPhases = results.length > 0 ? forcedAnswer(`The tool says: ${results.join(', and: ')}`, tokenizer) : () => [freePhase()];
  return formattedAnswer(body.response_format, tokenizer) ?? createPhases;
};

// The last messages of the conversation are tool results.
const toolResults = ({ messages }: ChatRequest): string[] => {
  const since = messages.findLastIndex(({ role }) => role !== 'tool');
  return messages.slice(since + 1).map(textOf);
};

// With a named tool, the answer is the arguments alone, as in vLLM.
const callPhases = ({ calls, named }: CalledTools, tokenizer: ContainerTokenizer): (() => Phase[]) => {
  const closing = tokenizer.encodeText(CALL_CLOSING);
  const parts = calls.flatMap(({ name, arguments: text }, call): [Channel, number[]][] => {
    const own: [Channel, number[]] = [{ kind: 'call', call }, tokenizer.encodeText(text)];
    return named ? [own] : [[HIDDEN, tokenizer.encodeText(callOpening(name))], own, [HIDDEN, closing]];
  });
  return () => [...parts.map(([channel, tokens]) => forcedPhase(channel, tokens)), endingPhase(HIDDEN, tokenizer.specials.endOfTurn)];
};
