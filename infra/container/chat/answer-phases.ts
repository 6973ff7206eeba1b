import { forcedAnswer, formattedAnswer } from '../constrained/formatted-answer.ts';
import { BadRequest } from '../errors.ts';
import { type Channel, endingPhase, forcedPhase, freePhase, type Phase, reasoningPhase } from '../generation/phase.ts';
import type { ContainerTokenizer } from '../tokenizer.ts';
import type { CalledTools } from './called-tools.ts';
import { textOf } from './prompt.ts';
import type { ChatRequest } from './request.ts';

/** The most tokens that our model thinks. */
const EFFORT_TOKENS = { none: 0, low: 16, medium: 48, high: 96 };
const END_OF_REASONING = '\n</think>\n\n';

/** How our model writes a call; only the arguments between the two are shown. */
const callOpening = (name: string): string => `${name}(`;
const CALL_CLOSING = ')\n';

const HIDDEN: Channel = { kind: 'hidden' };

/** A body, the tools it calls and how much it may think in, what makes the phases of one answer to it out. */
export const answerPhases = (body: ChatRequest, called: CalledTools, reasoningTokens: number, tokenizer: ContainerTokenizer) => {
  const { endOfTurn } = tokenizer.specials;
  const createAnswer = plainAnswer(body, called, tokenizer);
  if (reasoningTokens === 0) return createAnswer;
  const end = tokenizer.encodeText(END_OF_REASONING);
  return (): Phase[] => [reasoningPhase(reasoningTokens, endOfTurn, tokenizer.tokenBytes), forcedPhase(HIDDEN, end), ...createAnswer()];
};

/**
 * How many tokens a model that reasons may think: no more than asked, and at most half of all. Throws `BadRequest` for a budget
 * that the model knows nothing of.
 */
export const reasoningTokensOf = (body: ChatRequest, reasons: boolean, maxTokens: number): number => {
  const { thinking_token_budget: budget, reasoning_effort: effort, chat_template_kwargs: variables } = body;
  if (!reasons) {
    if (typeof budget !== 'number') return 0;
    const advice = 'Please set --reasoning-config to use thinking_token_budget.';
    throw new BadRequest(`thinking_token_budget is set but reasoning_config is not configured. ${advice}`);
  }
  if (variables?.enable_thinking === false) return 0;
  return Math.min(EFFORT_TOKENS[effort ?? 'medium'], budget ?? Infinity, Math.floor(maxTokens / 2));
};

const plainAnswer = (body: ChatRequest, called: CalledTools, tokenizer: ContainerTokenizer): (() => Phase[]) => {
  if (called.calls.length > 0) return callPhases(called, tokenizer);
  const results = toolResults(body);
  const said = results.length > 0 ? forcedAnswer(`The tool says: ${results.join(', and: ')}`, tokenizer) : () => [freePhase()];
  return formattedAnswer(body.response_format, tokenizer) ?? said;
};

/** What the tools said since the assistant called them. */
const toolResults = ({ messages }: ChatRequest): string[] => {
  const since = messages.findLastIndex(({ role }) => role !== 'tool');
  return messages.slice(since + 1).map(textOf);
};

/** A call that was named is its arguments and nothing else, as vLLM forces them. */
const callPhases = ({ calls, named }: CalledTools, tokenizer: ContainerTokenizer): (() => Phase[]) => {
  const closing = tokenizer.encodeText(CALL_CLOSING);
  const parts = calls.flatMap(({ name, arguments: text }, call): [Channel, number[]][] => {
    const own: [Channel, number[]] = [{ kind: 'call', call }, tokenizer.encodeText(text)];
    return named ? [own] : [[HIDDEN, tokenizer.encodeText(callOpening(name))], own, [HIDDEN, closing]];
  });
  return () => [...parts.map(([channel, tokens]) => forcedPhase(channel, tokens)), endingPhase(HIDDEN, tokenizer.specials.endOfTurn)];
};
