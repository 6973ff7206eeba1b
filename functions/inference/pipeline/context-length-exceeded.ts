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

interface PromptBound {
  param: string;
  bound: string;
  remedy: string;
}

const boundOf = ({ windowTokens, names }: ExceededFacts, maxPromptTokens: number): PromptBound => {
  const param = nameOf('prompt_truncate_len', names);
  if (!usesAutoTruncation(names)) return { param, bound: `${param} is ${maxPromptTokens}`, remedy: `raise ${param}` };
  return {
    param: nameOf('messages', names),
    bound: `With truncation: "auto", ${maxPromptTokens} of the model's ${windowTokens} tokens are left for the prompt`,
    remedy: `lower ${nameOf('max_tokens', names)}`,
  };
};

// Clients such as LiteLLM recognize the error by the words with which OpenAI's message begins.
const messageOf = (facts: ExceededFacts): string => {
  const { promptTokens, maxTokens, windowTokens, maxPromptTokens, names } = facts;
  if (maxPromptTokens !== undefined) {
    const { bound, remedy } = boundOf(facts, maxPromptTokens);
    return `${bound}, but the messages and tools that are never evicted have ${promptTokens}. Shorten them or ${remedy}.`;
  }
  const inCompletion = `asks for ${maxTokens} tokens in the completion`;
  const request =
    promptTokens === undefined ? inCompletion : `has ${promptTokens} tokens in the ${nameOf('messages', names)} and ${inCompletion}`;
  return `This model's maximum context length is ${windowTokens} tokens, but the request ${request}. ${remedyOf(facts)}.`;
};

/** The prompt and the answer don't fit the context window, or the prompt exceeds its own limit. */
export class ContextLengthExceeded extends InvalidRequest {
  constructor(facts: ExceededFacts, message = messageOf(facts)) {
    const { maxPromptTokens, names } = facts;
    const param = maxPromptTokens === undefined ? nameOf('messages', names) : boundOf(facts, maxPromptTokens).param;
    super({ code: 'context_length_exceeded', param, message });
  }
}
