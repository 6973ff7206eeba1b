import { setTimeout as delay } from 'node:timers/promises';
import type { ApiEvent } from '../../shared/http/api-event.ts';
import type { Admission } from '../../shared/keys/admit.ts';
import { logError } from '../../shared/logging/log.ts';
import type { Outcome, UsageEvent } from '../../shared/metering/event.ts';
import type { Model, Target } from '../../shared/models/model.ts';
import { costNanos, type Price } from '../../shared/prices/price.ts';
import type { Fitted } from '../../shared/tokens/fit-window.ts';
import { isChatPrompt, type Prompt } from '../../shared/tokens/prompt.ts';
import type { UpstreamChunk, UpstreamUsage } from '../../shared/upstream/chunk.ts';
import { createTally, type TokenCount } from '../../shared/upstream/tally.ts';
import type { Dependencies } from './pipeline.ts';
import type { InferenceRequest } from './route.ts';

/** An answer that broke off is counted by the model's own tokenizer, if that answers in this time. */
const COUNT_MS = 5_000;

/** Where nothing was delivered, nothing is charged. */
const NOTHING: TokenCount = { promptTokens: 0, completionTokens: 0, source: 'estimated' };

/** What an admitted request is made of. */
export interface RequestFacts {
  event: ApiEvent;
  route: { path: string };
  request: InferenceRequest;
  model: Model;
  price: Price;
  admission: Admission;
  prompt: Prompt;
  promptBytes: number;
}

const between = (fromMs: number | undefined, toMs: number | undefined): number | null =>
  fromMs === undefined || toMs === undefined ? null : toMs - fromMs;

/** Watches one request: when what happened, what was delivered, and so what its usage event says. */
export const observe = (facts: RequestFacts, { tokenizer, now }: Pick<Dependencies, 'tokenizer' | 'now'>) => {
  const { event, route, request, model, price, admission } = facts;
  const tally = createTally(facts.promptBytes, model.tokenizer !== undefined, now);
  let [target] = model.targets;
  let { prompt } = facts;
  let isPromptCounted = false;
  let askedAtMs: number | undefined;
  let takenAtMs: number | undefined;
  let answeredAtMs: number | undefined;

  /** The runtime did not say what it delivered: the model's own tokenizer says it, or the estimate stands. */
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
      logError('count_failed', error, { request_id: event.requestId, model: model.name });
    } finally {
      late.abort();
    }
  };

  /** Where the runtime did not say, an echoed prompt has been counted with the answer. */
  const count = (): TokenCount => {
    const counted = tally.count();
    if (!request.echo || counted.source === 'runtime') return counted;
    return { ...counted, completionTokens: Math.max(0, counted.completionTokens - counted.promptTokens) };
  };

  return {
    /** The prompt as it goes to the model. */
    fitted: (fitted: Fitted): void => {
      prompt = fitted.prompt;
      isPromptCounted = fitted.promptTokens !== undefined;
      tally.counted({ promptTokens: fitted.promptTokens });
    },
    /** A target is asked now. */
    asked: (next: Target): void => {
      target = next;
      askedAtMs = now();
    },
    /** The target has taken the request. */
    taken: (): void => {
      takenAtMs = now();
    },
    /** Counts what goes by. */
    see: (chunks: readonly UpstreamChunk[]): void => chunks.forEach(tally.take),
    /** The answer has ended: what it used is known from here on. */
    ended: (): Promise<void> => {
      answeredAtMs ??= now();
      return countDelivered();
    },

    usage: (): UpstreamUsage => {
      const { promptTokens, completionTokens } = count();
      return tally.usage ?? { prompt_tokens: promptTokens, completion_tokens: completionTokens };
    },

    /** `perf_metrics_in_response`: milliseconds, and tokens of the answer a second. */
    perf: (): Record<string, unknown> => {
      const { completionTokens } = count();
      const writingMs = between(tally.firstTokenAtMs, answeredAtMs ?? now());
      return {
        time_to_first_token_ms: between(event.receivedAtMs, tally.firstTokenAtMs),
        // Between the first token and the last: one token alone has no speed.
        tokens_per_second: writingMs && completionTokens > 1 ? Math.round(((completionTokens - 1) * 10_000) / writingMs) / 10 : null,
        gateway_time_ms: between(event.receivedAtMs, askedAtMs),
        queue_time_ms: between(askedAtMs, takenAtMs),
      };
    },

    usageEvent: (outcome: Outcome): UsageEvent => {
      const { promptTokens, completionTokens, source } = outcome === 'completed' || request.stream ? count() : NOTHING;
      return {
        request_id: event.requestId,
        key_id: admission.item.id,
        org_id: admission.item.org,
        model: model.name,
        route: route.path,
        stream: request.stream === true,
        prompt_tokens: promptTokens,
        completion_tokens: completionTokens,
        source,
        outcome,
        finish_reason: tally.finishReason ?? null,
        admitted_at: admission.entry[0],
        time_to_first_token_ms: between(event.receivedAtMs, tally.firstTokenAtMs),
        duration_ms: now() - event.receivedAtMs,
        cost_nanos: costNanos(price, { promptTokens, completionTokens }),
        price_version: price.version,
        endpoint: target.endpoint,
        ...(request.user && { user: request.user.toWellFormed() }),
        ...(request.metadata && { metadata: request.metadata }),
      };
    },
  };
};

export type Observation = ReturnType<typeof observe>;
