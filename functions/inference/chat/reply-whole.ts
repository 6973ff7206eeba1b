import { reasoningOf, textOf, type UpstreamChoice, type UpstreamChunk, type UpstreamUsage } from '../../../shared/upstream/chunk.ts';
import type { ReplyFacts } from '../pipeline/inference-route.ts';
import { callIdPrefix, createCallReader, finishReasonOf, type ReplyForm, stopReasonOf, usageOf } from './reply.ts';

// OpenAI's schema allows these two to be absent, but not to be null.
const callsOf = (made: ReturnType<ReturnType<typeof createCallReader>['calls']>, { isLegacy }: ReplyForm): Record<string, unknown> => {
  const functions = made.map(({ name, arguments: text }) => ({ name, arguments: text }));
  if (made.length === 0) return {};
  if (isLegacy) return { function_call: functions[0] };
  return { tool_calls: made.map(({ id }, call) => ({ id, type: 'function', function: functions[call] })) };
};

const createChoice = (index: number, facts: ReplyFacts, form: ReplyForm) => {
  const calls = createCallReader(callIdPrefix(facts, index));
  const logprobs: unknown[] = [];
  const tokenIds: number[] = [];
  let content = '';
  let reasoning = '';
  let finishReason: string | null = null;
  let stopReason: string | null = null;

  return {
    index,
    take: (choice: UpstreamChoice): void => {
      if (finishReason !== null) return;
      const { delta } = choice;
      content += textOf(delta?.content);
      if (delta) reasoning += reasoningOf(delta);
      calls.take(Array.isArray(delta?.tool_calls) ? delta.tool_calls : [], choice.finish_reason);
      // Not spread: one chunk can have more entries than a function call can have arguments.
      for (const entry of choice.logprobs?.content ?? []) logprobs.push(entry);
      for (const id of choice.token_ids ?? []) tokenIds.push(id);
      if (!choice.finish_reason) return;
      finishReason = finishReasonOf(choice.finish_reason, form, calls.calls().length > 0);
      stopReason = stopReasonOf(choice);
    },
    whole: (): Record<string, unknown> => {
      const made = calls.calls();
      const message = {
        role: 'assistant',
        content: made.length > 0 ? content || null : content,
        refusal: null,
        annotations: [],
        audio: null,
        ...callsOf(made, form),
        reasoning: reasoning || null,
      };
      return {
        index,
        message,
        logprobs: logprobs.length > 0 ? { content: logprobs, refusal: null } : null,
        finish_reason: finishReason,
        stop_reason: stopReason,
        raw_output: null,
        token_ids: form.tokenIds && tokenIds.length > 0 ? tokenIds : null,
      };
    },
  };
};

/**
 * Collects a runtime's chunks into the object of interface 2.3, with all of OpenAI's keys; keys without a value are
 * null, but calls are absent.
 */
export const createChatCompletion = (facts: ReplyFacts, form: ReplyForm) => {
  const choices = new Map<number, ReturnType<typeof createChoice>>();
  let promptTokenIds: number[] | null = null;
  let metrics: Record<string, unknown> | undefined;
  return {
    take: (chunks: readonly UpstreamChunk[]): void => {
      for (const chunk of chunks) {
        if (chunk.prompt_token_ids) promptTokenIds = chunk.prompt_token_ids;
        if (chunk.metrics) metrics = chunk.metrics;
        for (const choice of chunk.choices ?? []) {
          const index = Number(choice.index ?? 0);
          const gathered = choices.get(index) ?? createChoice(index, facts, form);
          choices.set(index, gathered);
          gathered.take(choice);
        }
      }
    },
    whole: (usage: UpstreamUsage): Record<string, unknown> => ({
      id: facts.id,
      object: 'chat.completion',
      created: facts.created,
      model: facts.model,
      choices: [...choices.values()].sort((a, b) => a.index - b.index).map((choice) => choice.whole()),
      usage: usageOf(usage),
      service_tier: null,
      perf_metrics: facts.perf ? { ...metrics, ...facts.perf() } : null,
      prompt_token_ids: form.tokenIds ? promptTokenIds : null,
    }),
  };
};
