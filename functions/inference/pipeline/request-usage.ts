import { setTimeout as delay } from 'node:timers/promises';
import { logError } from '../../../shared/logging/log.ts';
import type { Target } from '../../../shared/models/model.ts';
import type { UpstreamChunk, UpstreamUsage } from '../../../shared/upstream/chunk.ts';
import type { Outcome, UsageEvent } from '../../../shared/usage/event.ts';
import type { Dependencies } from './dependencies.ts';
import type { Fitted } from './fit-window.ts';
import type { PreparedRequest } from './prepare-request.ts';
import { BYTES_PER_TOKEN, isChatPrompt } from './prompt-size.ts';
import { createTally, type Tally } from './tally.ts';
import { between, type RequestFacts, type RequestProgress, toUsageEvent } from './usage-event.ts';

// The time that the model's tokenizer has to count an answer that broke off.
const COUNT_MS = 5_000;

// An estimate for token ids.
const echoedCharacters = ({ prompt, choices }: PreparedRequest, choice: number): number => {
  if (isChatPrompt(prompt)) return 0;
  const text = prompt.texts[Math.floor((choice * prompt.texts.length) / choices)] ?? '';
  return typeof text === 'string' ? text.length : text.length * BYTES_PER_TOKEN;
};

// Milliseconds, and output tokens a second.
const perfMetrics = (receivedAtMs: number, progress: RequestProgress, tally: Tally, nowMs: number): Record<string, unknown> => {
  const { invokedAtMs, acceptedAtMs, answeredAtMs } = progress;
  const { completionTokens } = tally.count();
  const writingMs = between(tally.firstTokenAtMs(), answeredAtMs ?? nowMs);
  return {
    time_to_first_token_ms: between(receivedAtMs, tally.firstTokenAtMs()),
    // One token alone has no speed.
    tokens_per_second: writingMs && completionTokens > 1 ? Math.round(((completionTokens - 1) * 10_000) / writingMs) / 10 : null,
    gateway_time_ms: between(receivedAtMs, invokedAtMs),
    queue_time_ms: between(invokedAtMs, acceptedAtMs),
  };
};

/** Tracks what one request uses and when, for its usage event. */
export const trackUsage = (facts: RequestFacts, { tokenizer, now }: Pick<Dependencies, 'tokenizer' | 'now'>) => {
  const { event, request, model, prepared } = facts;
  const tally = createTally({
    promptBytes: prepared.promptBytes,
    most: { promptTokens: prepared.maxPromptTokens, completionTokens: prepared.choices * prepared.maxTokens },
    keepsText: model.tokenizer !== undefined,
    isEchoOnly: prepared.maxTokens === 0,
    echoedCharacters: request.echo ? (choice) => echoedCharacters(prepared, choice) : () => 0,
    now,
  });
  const progress: RequestProgress = {
    target: model.targets[0],
    tries: 0,
    admittedAtMs: now(),
    fittedAtMs: undefined,
    invokedAtMs: undefined,
    acceptedAtMs: undefined,
    answeredAtMs: undefined,
  };
  let { prompt } = prepared;
  let isPromptCounted = false;

  // If the runtime sent no count, the model's own tokenizer counts. If that fails, the estimate is used.
  const countDelivered = async (): Promise<void> => {
    const texts = tally.uncounted();
    if (!model.tokenizer || texts.length === 0) return;
    const late = new AbortController();
    try {
      const counting = tokenizer.count({ files: model.tokenizer, prompt: isPromptCounted || !isChatPrompt(prompt) ? null : prompt, texts });
      const counts = await Promise.race([counting, delay(COUNT_MS, undefined, { signal: late.signal })]);
      if (!counts) return;
      const completionTokens = counts.text_tokens.reduce((sum, tokens) => sum + tokens, 0);
      tally.counted({ promptTokens: counts.prompt_tokens ?? undefined, completionTokens });
    } catch (error) {
      logError('count_failed', error, { request_id: event.requestId, ...event.sender, model: model.name });
    } finally {
      late.abort();
    }
  };

  return {
    /** Records the prompt as it goes to the model. */
    fitted: (fitted: Fitted): void => {
      progress.fittedAtMs = now();
      prompt = fitted.prompt;
      isPromptCounted = fitted.promptTokens !== undefined;
      tally.counted({ promptTokens: fitted.promptTokens });
    },
    targetInvoked: (target: Target): void => {
      progress.target = target;
      progress.tries++;
      progress.acceptedAtMs = undefined;
      progress.invokedAtMs = now();
    },
    targetAccepted: (): void => {
      progress.acceptedAtMs = now();
    },
    count: (chunks: readonly UpstreamChunk[]): void => chunks.forEach(tally.take),
    hasOutput: (): boolean => tally.hasOutput(),
    /** Marks the end of the answer. When it resolves, the usage is final. */
    ended: (): Promise<void> => {
      progress.answeredAtMs ??= now();
      return countDelivered();
    },
    /** The runtime's count, or ours if the runtime sent none. */
    total: (): UpstreamUsage => {
      const { promptTokens, completionTokens } = tally.count();
      return tally.usage() ?? { prompt_tokens: promptTokens, completion_tokens: completionTokens };
    },
    /** The `perf_metrics` of a reply. */
    perf: (): Record<string, unknown> => perfMetrics(event.receivedAtMs, progress, tally, now()),
    toEvent: (outcome: Outcome, error?: Error): UsageEvent => toUsageEvent(facts, progress, tally, { outcome, error, nowMs: now() }),
  };
};

export type RequestUsage = ReturnType<typeof trackUsage>;
