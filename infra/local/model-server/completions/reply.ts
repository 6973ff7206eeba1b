import type { Finish, Step } from '../generation/generate.ts';
import type { ContainerTokenizer } from '../model/tokenizer.ts';
import type { ReplyHead, Usage } from '../replies/reply.ts';
import type { Echo } from './echo.ts';
import { lengthOf, toLogprobs } from './logprobs.ts';
import type { CompletionPlan } from './plan.ts';

/** The parts that all choices of a response share. */
export interface Form {
  plan: CompletionPlan;
  echoes: readonly Echo[];
  tokenizer: ContainerTokenizer;
}

// A choice that is only an echo ends so.
const NO_STEPS: Finish = { reason: 'length', stopReason: null };

const promptOf = (index: number, { choicesPerPrompt }: CompletionPlan): number => Math.floor(index / choicesPerPrompt);

// Choices and chunks share these fields. `shown` is the length of the choice's text before these steps.
const toPart = (steps: readonly Step[], echo: Echo | undefined, shown: number, { plan, tokenizer }: Form) => ({
  text: (echo?.text ?? '') + steps.map(({ text }) => text).join(''),
  logprobs: plan.topLogprobs === null ? null : toLogprobs([...(echo?.tokens ?? []), ...steps], shown, tokenizer),
  tokenIds: plan.showsTokenIds ? steps.map(({ token }) => token) : null,
});

/** Returns the body of a non-streamed response from the steps of each choice; without `usage` if that is undefined. */
export const toTextCompletion = (head: ReplyHead, answers: readonly (readonly Step[])[], form: Form, usage: Usage | undefined) => ({
  ...object(
    head,
    answers.map((steps, index) => toChoice(steps, index, form)),
  ),
  ...(usage && { usage: { ...usage, prompt_tokens_details: null } }),
});

const toChoice = (steps: readonly Step[], index: number, form: Form) => {
  const { plan, echoes } = form;
  const { text, logprobs, tokenIds } = toPart(steps, echoes[promptOf(index, plan)], 0, form);
  const { reason, stopReason } = steps.at(-1)?.finish ?? NO_STEPS;
  return {
    index,
    text,
    logprobs,
    finish_reason: reason,
    stop_reason: stopReason,
    token_ids: tokenIds,
    prompt_logprobs: null,
    prompt_token_ids: plan.showsTokenIds ? (plan.prompts[promptOf(index, plan)]?.tokens ?? null) : null,
  };
};

/**
 * Creates the chunks of one stream. A choice's first chunk has its echo, and the prompt's token ids if they are
 * requested or, as in vLLM, if there is an echo.
 */
export const createChunks = (head: ReplyHead, form: Form) => {
  const { plan, echoes } = form;
  const shown = new Map<number, number>();
  const chunk = (index: number, steps: readonly Step[], finish: Finish | null) => {
    const before = shown.get(index);
    const isFirst = before === undefined;
    const { text, logprobs, tokenIds } = toPart(steps, isFirst ? echoes[promptOf(index, plan)] : undefined, before ?? 0, form);
    shown.set(index, (before ?? 0) + lengthOf(text));
    const showsPrompt = isFirst && (plan.echoes || plan.showsTokenIds);
    const choice = {
      index,
      text,
      logprobs,
      finish_reason: finish?.reason ?? null,
      stop_reason: finish?.stopReason ?? null,
      prompt_token_ids: showsPrompt ? (plan.prompts[promptOf(index, plan)]?.tokens ?? null) : null,
      token_ids: tokenIds,
    };
    return object(head, [choice]);
  };
  return {
    /** Returns the chunk of one token. */
    step: (step: Step) => chunk(step.choice, [step], step.finish),
    /** Returns the chunk of a choice that is only an echo. */
    echo: (index: number) => chunk(index, [], NO_STEPS),
    /** Returns the last chunk of a stream whose request asks for usage. */
    usage: (usage: Usage) => ({ ...object(head, []), usage }),
  };
};

const object = ({ id, created, model }: ReplyHead, choices: readonly object[]) => ({
  id,
  object: 'text_completion',
  created,
  model,
  choices,
});
