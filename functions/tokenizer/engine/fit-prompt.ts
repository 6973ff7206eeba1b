import type { FitAnswer } from '../../../shared/tokens/answers.ts';
import type { ChatPrompt } from '../../../shared/tokens/prompt.ts';
import { createEviction } from './eviction.ts';
import type { LoadedTokenizer } from './loaded-tokenizer.ts';

/** The exact number of tokens of a prompt, rendered with the model's chat template up to the start of the answer. */
export const countPrompt = ({ render, createCounter }: LoadedTokenizer, prompt: ChatPrompt): number =>
  createCounter().count(render(prompt)) as number;

/**
 * Keeps as many messages of a prompt as fit a limit; `eviction.ts` has the rules. If the messages that must stay are
 * longer than the limit, only they are kept. Encodes only the end of the prompt that fits, and each message once.
 * @param maxPromptTokens null: keep and count everything
 */
export const fitPrompt = (tokenizer: LoadedTokenizer, prompt: ChatPrompt, maxPromptTokens: number | null): FitAnswer => {
  if (maxPromptTokens === null) return { prompt_tokens: countPrompt(tokenizer, prompt), kept: null };
  const counter = tokenizer.createCounter();
  const eviction = createEviction(prompt.messages);
  const count = (step: number, limit?: number): { prompt_tokens: number; kept: number[] } | undefined => {
    const kept = eviction.keptAt(step);
    const messages = kept.flatMap((index) => prompt.messages[index] ?? []);
    const tokens = counter.count(tokenizer.render({ ...prompt, messages }), limit);
    return tokens === undefined ? undefined : { prompt_tokens: tokens, kept };
  };

  const whole = count(0, maxPromptTokens);
  if (whole) return whole;
  // A binary search for the first step that fits: a later step never has more tokens.
  let fitting: ReturnType<typeof count>;
  for (let tooLong = 0, fits = eviction.steps; fits - tooLong > 1; ) {
    const middle = (tooLong + fits) >> 1;
    const candidate = count(middle, maxPromptTokens);
    if (candidate) [fitting, fits] = [candidate, middle];
    else tooLong = middle;
  }
  return fitting ?? (count(eviction.steps - 1) as FitAnswer);
};
