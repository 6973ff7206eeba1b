import type { FitAnswer } from '../../../shared/tokens/answers.ts';
import type { ChatPrompt } from '../../../shared/tokens/prompt.ts';
import { createEviction } from './eviction.ts';
import type { LoadedTokenizer } from './loaded-tokenizer.ts';

/** The exact length of a prompt as the model gets it: rendered with its chat template, up to where the answer begins. */
export const countPrompt = ({ render, createCounter }: LoadedTokenizer, prompt: ChatPrompt): number =>
  createCounter().count(render(prompt)) as number;

/**
 * Keeps as many messages of a prompt as fit a bound; see `eviction.ts` for which may go. Where even what must stay is longer, that is
 * what is kept. Only the end of the prompt that fits is ever encoded, and each message once.
 * @param maxPromptTokens null: everything is kept and counted
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
  // A later step never has more tokens, so the first that fits is searched for by halves.
  let fitting: ReturnType<typeof count>;
  for (let tooLong = 0, fits = eviction.steps; fits - tooLong > 1; ) {
    const middle = (tooLong + fits) >> 1;
    const candidate = count(middle, maxPromptTokens);
    if (candidate) [fitting, fits] = [candidate, middle];
    else tooLong = middle;
  }
  return fitting ?? (count(eviction.steps - 1) as FitAnswer);
};
