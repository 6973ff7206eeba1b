import { setTimeout as delay } from 'node:timers/promises';
import type { ApiEvent } from '../../../shared/http/api-event.ts';
import { logError } from '../../../shared/logging/log.ts';
import type { Model, Target } from '../../../shared/models/model.ts';
import { costNanos, type Price } from '../../../shared/prices/price.ts';
import type { UpstreamChunk, UpstreamUsage } from '../../../shared/upstream/chunk.ts';
import type { Outcome, UsageEvent } from '../../../shared/usage/event.ts';
import type { Admission } from '../admission/admit.ts';
import { isLogged } from '../payload-log/log-header.ts';
import type { Dependencies } from './dependencies.ts';
import { errorFacts, limiterState, stepEnds } from './event-facts.ts';
import type { Fitted } from './fit-window.ts';
import type { InferenceRequest } from './inference-route.ts';
import type { PreparedRequest } from './prepare-request.ts';
import { BYTES_PER_TOKEN, isChatPrompt } from './prompt-size.ts';
import { createTally, type TokenCount } from './tally.ts';
import { traceparentOf } from './trace-context.ts';

/** The model's own tokenizer counts an answer that broke off, if it replies within this time. */
const COUNT_MS = 5_000;

/** If nothing was delivered, nothing is charged. */
const NOTHING: TokenCount = { promptTokens: 0, cachedTokens: 0, completionTokens: 0, source: 'estimated', isOvercounted: false };

/** What is known of a request when it is admitted. */
export interface RequestFacts {
  event: ApiEvent;
  /** When its parsing ended. */
  parsedAtMs: number;
  /** The route's path. */
  path: string;
  request: InferenceRequest;
  model: Model;
  price: Price;
  prepared: PreparedRequest;
  admission: Admission;
  /** The end user, where the host requires one. */
  userId: string | undefined;
}

const between = (fromMs: number | undefined, toMs: number | undefined): number | null =>
  fromMs === undefined || toMs === undefined ? null : toMs - fromMs;

/** A request is never charged more than was held for it, so that a budget or credit is never exceeded. */
const charge = (nanos: bigint, { holdNanos, isPrepaid }: Admission): Pick<UsageEvent, 'cost_nanos' | 'is_capped' | 'is_prepaid'> => {
  const isCapped = holdNanos !== undefined && nanos > holdNanos;
  return {
    cost_nanos: isCapped ? holdNanos : nanos,
    ...(isCapped && { is_capped: true as const }),
    ...(isPrepaid && { is_prepaid: true as const }),
  };
};

/** The length of a choice's echoed prompt; for token ids an estimate. */
const echoedCharacters = ({ prompt, choices }: PreparedRequest, choice: number): number => {
  if (isChatPrompt(prompt)) return 0;
  const text = prompt.texts[Math.floor((choice * prompt.texts.length) / choices)] ?? '';
  return typeof text === 'string' ? text.length : text.length * BYTES_PER_TOKEN;
};

/** Tracks what one request uses and when, for its usage event. */
export const trackUsage = (facts: RequestFacts, { tokenizer, now }: Pick<Dependencies, 'tokenizer' | 'now'>) => {
  const { event, request, model, price, prepared, admission } = facts;
  const tally = createTally({
    promptBytes: prepared.promptBytes,
    most: { promptTokens: prepared.maxPromptTokens, completionTokens: prepared.choices * prepared.maxTokens },
    keepsText: model.tokenizer !== undefined,
    isEchoOnly: prepared.maxTokens === 0,
    echoedCharacters: request.echo ? (choice) => echoedCharacters(prepared, choice) : () => 0,
    now,
  });
  let [target] = model.targets;
  let { prompt } = prepared;
  let isPromptCounted = false;
  const admittedAtMs = now();
  let tries = 0;
  let fittedAtMs: number | undefined;
  let invokedAtMs: number | undefined;
  let acceptedAtMs: number | undefined;
  let answeredAtMs: number | undefined;

  /** Counts the delivered text with the model's own tokenizer if the runtime sent no count; if that fails, the estimate is used. */
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
      fittedAtMs = now();
      prompt = fitted.prompt;
      isPromptCounted = fitted.promptTokens !== undefined;
      tally.counted({ promptTokens: fitted.promptTokens });
    },
    targetInvoked: (next: Target): void => {
      target = next;
      tries++;
      acceptedAtMs = undefined;
      invokedAtMs = now();
    },
    targetAccepted: (): void => {
      acceptedAtMs = now();
    },
    count: (chunks: readonly UpstreamChunk[]): void => chunks.forEach(tally.take),
    hasOutput: (): boolean => tally.hasOutput(),
    /** Marks the end of the answer. When it resolves, the usage is final. */
    ended: (): Promise<void> => {
      answeredAtMs ??= now();
      return countDelivered();
    },

    /** The runtime's count, or ours if the runtime sent none. */
    total: (): UpstreamUsage => {
      const { promptTokens, completionTokens } = tally.count();
      return tally.usage() ?? { prompt_tokens: promptTokens, completion_tokens: completionTokens };
    },

    /** The `perf_metrics` of a reply: milliseconds, and output tokens a second. */
    perf: (): Record<string, unknown> => {
      const { completionTokens } = tally.count();
      const writingMs = between(tally.firstTokenAtMs(), answeredAtMs ?? now());
      return {
        time_to_first_token_ms: between(event.receivedAtMs, tally.firstTokenAtMs()),
        // Between the first token and the last: one token alone has no speed.
        tokens_per_second: writingMs && completionTokens > 1 ? Math.round(((completionTokens - 1) * 10_000) / writingMs) / 10 : null,
        gateway_time_ms: between(event.receivedAtMs, invokedAtMs),
        queue_time_ms: between(invokedAtMs, acceptedAtMs),
      };
    },

    toEvent: (outcome: Outcome, error?: Error): UsageEvent => {
      const traceparent = traceparentOf(event);
      // A runtime that counts with every chunk counts the prompt before anything is delivered.
      const isBilled =
        outcome === 'completed' || (request.stream ? tally.firstTokenAtMs() !== undefined : outcome === 'timed_out' && tally.hasOutput());
      const { promptTokens, cachedTokens, completionTokens, source, isOvercounted } = isBilled ? tally.count() : NOTHING;
      return {
        request_id: admission.requestId,
        key_id: admission.keyId,
        org_id: admission.organization,
        model: model.name,
        route: facts.path,
        stream: request.stream === true,
        prompt_tokens: promptTokens,
        cached_tokens: cachedTokens,
        completion_tokens: completionTokens,
        source,
        ...(isOvercounted && { is_overcounted: true as const }),
        outcome,
        ...errorFacts(error),
        finish_reason: tally.finishReason() ?? null,
        admitted_at: admission.admittedAtMs,
        time_to_first_token_ms: between(event.receivedAtMs, tally.firstTokenAtMs()),
        duration_ms: now() - event.receivedAtMs,
        step_ends_ms: stepEnds(event, [facts.parsedAtMs, admittedAtMs, fittedAtMs, invokedAtMs, acceptedAtMs, answeredAtMs]),
        limiter: limiterState(admission),
        ...(traceparent && { traceparent }),
        ...(tries > 1 && { tries }),
        ...(prepared.ignoredFields.length > 0 && { ignored: prepared.ignoredFields }),
        ...charge(costNanos(price, { promptTokens, cachedTokens, completionTokens }), admission),
        price_version: price.version,
        endpoint: target.endpoint,
        ...(target.component !== undefined && { component: target.component }),
        ...(isLogged(admission, event) && { is_payload_logged: true as const }),
        ...(request.user && { user: request.user.toWellFormed() }),
        ...(facts.userId !== undefined && { user_id: facts.userId }),
        ...(request.metadata && { metadata: request.metadata }),
      };
    },
  };
};

export type RequestUsage = ReturnType<typeof trackUsage>;
