import { textOf, tokenCount, type UpstreamChunk, type UpstreamToolCall } from '../../../shared/upstream/chunk.ts';

// Longer answers are not compared: both of a request are in memory at the same time.
const MAX_CHARACTERS = 1_000_000;
const MAX_CALLS = 128;

interface Call {
  name: string;
  arguments: string;
}

/** The answer of a generation to a request with one choice. */
export interface ObservedAnswer {
  text: string;
  calls: readonly Call[];
  finishReason: string | undefined;
  promptTokens: number | undefined;
  completionTokens: number | undefined;
}

/** Collects an answer, to compare it with another one. Nothing of it is stored. */
export interface AnswerObserver {
  /** Never throws. */
  take: (chunks: readonly UpstreamChunk[]) => void;
  /** True if the answer was too long to be kept, or has a form that can't be compared. */
  isTooLarge: () => boolean;
  /** True if it has a part of the answer. */
  hasBegun: () => boolean;
  answer: () => ObservedAnswer;
}

export const observeAnswer = (): AnswerObserver => {
  const texts: string[] = [];
  const calls = new Map<number, Call>();
  let characters = 0;
  let hasBegun = false;
  let finishReason: string | undefined;
  let promptTokens: number | undefined;
  let completionTokens: number | undefined;

  const takeCall = ({ index, function: called }: UpstreamToolCall): void => {
    const place = index ?? Math.max(0, calls.size - 1);
    const { name, arguments: written } = calls.get(place) ?? { name: '', arguments: '' };
    const more = called?.arguments;
    // Some runtimes send the arguments as an object.
    const text = typeof more === 'object' && more !== null ? JSON.stringify(more) : textOf(more);
    characters += text.length;
    if (calls.size >= MAX_CALLS && !calls.has(place)) characters = Number.POSITIVE_INFINITY;
    else calls.set(place, { name: name + textOf(called?.name), arguments: written + text });
  };

  const take = ({ choices, usage }: UpstreamChunk): void => {
    for (const { delta, message, text, finish_reason } of choices ?? []) {
      const content = textOf(delta?.content) || textOf(message?.content) || textOf(text);
      const reasoning = textOf(delta?.reasoning) || textOf(delta?.reasoning_content);
      const called = delta?.tool_calls ?? message?.tool_calls ?? [];
      if (content || reasoning || called.length > 0) hasBegun = true;
      characters += content.length;
      texts.push(content);
      for (const call of called) takeCall(call);
      if (typeof finish_reason === 'string') finishReason = finish_reason;
    }
    promptTokens = tokenCount(usage?.prompt_tokens) ?? promptTokens;
    completionTokens = tokenCount(usage?.completion_tokens) ?? completionTokens;
  };

  const isTooLarge = (): boolean => characters > MAX_CHARACTERS;
  return {
    take: (chunks) => {
      try {
        for (const chunk of chunks) if (!isTooLarge()) take(chunk);
      } catch {
        // The caller's reply doesn't depend on it.
        characters = Number.POSITIVE_INFINITY;
      }
      if (!isTooLarge()) return;
      texts.length = 0;
      calls.clear();
    },
    isTooLarge,
    hasBegun: () => hasBegun,
    answer: () => ({ text: texts.join(''), calls: [...calls.values()], finishReason, promptTokens, completionTokens }),
  };
};
