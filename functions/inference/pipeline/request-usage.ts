import { setTimeout as delay } from 'node:timers/promises';
import { logError } from '../../../shared/logging/log.ts';
import type { Target } from '../../../shared/models/model.ts';
import type { Tokenizer } from '../../../shared/tokens/tokenizer.ts';
import type { UpstreamChunk, UpstreamUsage } from '../../../shared/upstream/chunk.ts';
import type { FailedAttempt, Outcome, UsageEvent } from '../../../shared/usage/event.ts';
import type { Candidate } from '../fallback/candidate.ts';
import type { Dependencies } from './dependencies.ts';
import type { Fitted } from './fit-window.ts';
import type { InferenceRequest } from './inference-route.ts';
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

const tallyOf = ({ echo, return_token_ids }: InferenceRequest, { model, prepared }: Candidate<PreparedRequest>, now: () => number): Tally =>
  createTally({
    promptBytes: prepared.promptBytes,
    most: { promptTokens: prepared.maxPromptTokens, completionTokens: prepared.choices * prepared.maxTokens },
    choices: prepared.choices,
    keepsText: model.tokenizer !== undefined,
    isEchoOnly: prepared.maxTokens === 0,
    hasNoOutput: prepared.hasNoOutput,
    echoedCharacters: echo && !return_token_ids ? (choice) => echoedCharacters(prepared, choice) : () => 0,
    now,
  });

/** Tracks what one request uses and when, for its usage event. @param first the candidate that is tried first */
export const trackUsage = (
  facts: RequestFacts,
  first: Candidate<PreparedRequest>,
  failedBefore: readonly FailedAttempt[],
  { now, tokenizerOf }: Pick<Dependencies, 'now'> & { tokenizerOf: (candidate: Candidate<PreparedRequest>) => Tokenizer },
) => {
  const { event, request } = facts;
  let tally = tallyOf(request, first, now);
  const progress: RequestProgress = {
    candidate: first,
    attempts: failedBefore,
    target: first.model.targets[0],
    tries: 0,
    admittedAtMs: now(),
    fittedAtMs: undefined,
    invokedAtMs: undefined,
    acceptedAtMs: undefined,
    answeredAtMs: undefined,
  };
  let startedAtMs = progress.admittedAtMs;
  let { prompt } = first.prepared;
  let isPromptCounted = false;

  // If the runtime sent no count, the model's own tokenizer counts. If that fails, the estimate is used.
  const countDelivered = async (): Promise<void> => {
    const { model } = progress.candidate;
    const texts = tally.uncounted();
    if (!model.tokenizer || texts.length === 0) return;
    const late = new AbortController();
    try {
      const counting = tokenizerOf(progress.candidate).count({
        files: model.tokenizer,
        prompt: isPromptCounted || !isChatPrompt(prompt) ? null : prompt,
        texts,
      });
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
    /** The candidate that answers, or was tried last. */
    candidate: (): Candidate<PreparedRequest> => progress.candidate,
    /** Records that the candidate has failed, and another one is tried. Nothing of it is counted or charged. */
    failedOver: (code: string, next: Candidate<PreparedRequest>): void => {
      const ms = Math.max(0, now() - startedAtMs);
      const attempts = [...progress.attempts, { model: progress.candidate.model.name, code, ms }];
      Object.assign(progress, { candidate: next, attempts, target: next.model.targets[0], acceptedAtMs: undefined });
      startedAtMs = now();
      tally = tallyOf(request, next, now);
      prompt = next.prepared.prompt;
      isPromptCounted = false;
    },
    /** Records the prompt as it goes to the model. */
    fitted: (fitted: Fitted): void => {
      progress.fittedAtMs ??= now();
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
    count: (chunks: readonly UpstreamChunk[]): void => {
      for (const chunk of chunks) tally.take(chunk);
    },
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
    /** The times of the answer from the call of its target, in milliseconds; undefined if it has not ended. */
    answerTimes: (): { firstTokenMs: number | undefined; durationMs: number } | undefined => {
      const { invokedAtMs, answeredAtMs } = progress;
      const durationMs = between(invokedAtMs, answeredAtMs);
      return durationMs === null ? undefined : { firstTokenMs: between(invokedAtMs, tally.firstTokenAtMs()) ?? undefined, durationMs };
    },
    toEvent: (outcome: Outcome, error?: Error): UsageEvent => toUsageEvent(facts, progress, tally, { outcome, error, nowMs: now() }),
  };
};

export type RequestUsage = ReturnType<typeof trackUsage>;
