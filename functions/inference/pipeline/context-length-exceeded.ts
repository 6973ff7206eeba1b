import { type FieldNames, InvalidRequest, nameOf } from '../../../shared/http/errors.ts';

/** The sizes, in tokens, of a request that doesn't fit. */
export interface ExceededFacts {
  /** Absent if max_tokens alone exceeds the window. */
  promptTokens?: number;
  maxTokens: number;
  windowTokens: number;
  maxPromptTokens?: number | undefined;
  names?: FieldNames | undefined;
}

// The Responses API's `truncation: "auto"` has no number of tokens to lower.
const usesAutoTruncation = (names: FieldNames | undefined): boolean => nameOf('prompt_truncate_len', names) === 'truncation';

const remedyOf = ({ promptTokens, windowTokens, names }: ExceededFacts): string => {
  const maxTokens = nameOf('max_tokens', names);
  if (promptTokens === undefined) return `Lower ${maxTokens}`;
  const shorten = `Shorten the ${nameOf('messages', names)}`;
  if (promptTokens < windowTokens) return `${shorten} or lower ${maxTokens}`;
  return usesAutoTruncation(names) ? `${shorten}, or send truncation: "auto"` : shorten;
};

const boundOf = (maxPromptTokens: number, names: FieldNames | undefined): { param: string; bound: string; remedy: string } => {
  const param = nameOf('prompt_truncate_len', names);
  if (!usesAutoTruncation(names)) return { param, bound: `${param} is ${maxPromptTokens}`, remedy: `raise ${param}` };
  return {
    param: nameOf('messages', names),
    bound: `With truncation: "auto", ${maxPromptTokens} tokens are left for the prompt`,
    remedy: `lower ${nameOf('max_tokens', names)}`,
  };
};

const messageOf = (facts: ExceededFacts): string => {
  const { promptTokens, maxTokens, windowTokens, maxPromptTokens, names } = facts;
  const inPrompt = `${promptTokens} tokens in the ${nameOf('messages', names)}, `;
  const others = `${maxTokens} tokens in the completion; the model's context length is ${windowTokens}`;
  const limit = maxPromptTokens === undefined ? undefined : boundOf(maxPromptTokens, names);
  return limit
    ? `${limit.bound}, but the messages and tools that are never evicted are longer: ${inPrompt}${others}. Shorten them or ${limit.remedy}.`
    : `This request does not fit the model's context window: ${promptTokens === undefined ? '' : inPrompt}${others}. ${remedyOf(facts)}.`;
};

/** The prompt and the answer don't fit the context window, or the prompt exceeds its own limit. */
export class ContextLengthExceeded extends InvalidRequest {
  constructor(facts: ExceededFacts, message = messageOf(facts)) {
    const { maxPromptTokens, names } = facts;
    const param = maxPromptTokens === undefined ? nameOf('messages', names) : boundOf(maxPromptTokens, names).param;
    super({ code: 'context_length_exceeded', param, message });
  }
}
