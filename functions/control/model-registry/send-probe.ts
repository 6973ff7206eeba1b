import { codeOf } from '../../../shared/http/errors.ts';
import { newRequestId } from '../../../shared/ids/request-id.ts';
import { logInfo } from '../../../shared/logging/log.ts';
import type { Model, ModelTask, Target } from '../../../shared/models/model.ts';
import type { ChatPrompt } from '../../../shared/tokens/prompt.ts';
import type { UpstreamChunk } from '../../../shared/upstream/chunk.ts';
import { dialectOf } from '../../../shared/upstream/dialects.ts';
import { MistranslatedRequest, publicText, RefusedByModel, type UpstreamCode, UpstreamFailed } from '../../../shared/upstream/errors.ts';
import type { Invoke } from '../../../shared/upstream/invocation.ts';
import { type BodyFacts, requestBody } from '../../../shared/upstream/request-body.ts';

/** The prompt of the shortest conversation. */
export const PROBE_PROMPT = { messages: [{ role: 'user', content: 'Hi' }] } satisfies ChatPrompt;

// These begin text that does not help an admin: a traceback or the console's address.
const NOT_SHOWN = /Traceback|\\n|\n|\. See https?:/;
const LOOSE_END = / with message "$|\.$/;
/** Shortens an upstream's error text to what an admin needs. */
export const shortenError = (text: string): string => publicText((text.split(NOT_SHOWN, 1)[0] ?? '').replace(LOOSE_END, ''));

const ADVICE: Readonly<Record<UpstreamCode, string>> = {
  upstream_error: "See the endpoint's log in CloudWatch. If the container knows the model by another name, set container_model.",
  upstream_timeout: "See the endpoint's log in CloudWatch.",
  no_capacity: 'Add instances or copies, or check again later.',
  model_not_ready: 'Check again in a few minutes.',
};

const SERVICES: Readonly<Record<ModelTask, string>> = { generate: 'chat', embed: 'embeddings', rerank: 'rerank requests' };

const explanationOf = (error: unknown, kind: string, { dialect, task }: Model): string => {
  if (error instanceof MistranslatedRequest)
    return `The container does not understand requests in the dialect '${dialect}'. Choose the dialect of its runtime, or use a container that serves ${SERVICES[task]} at /invocations.`;
  if (error instanceof RefusedByModel) return `The container rejected ${kind}: ${error.message}`;
  if (error instanceof UpstreamFailed)
    return `${kind.replace(/^a/, 'A')} failed: ${shortenError(error.detail)}. ${ADVICE[error.code as UpstreamCode]}`;
  throw error;
};

export interface ProbeDependencies {
  /** The code that also sends callers' requests. */
  invoke: Invoke;
  now: () => number;
  timeoutMs: number;
}

interface Probe {
  /** The words for the request in a report. */
  kind: string;
  take: (chunk: UpstreamChunk) => void;
}

interface ChatProbe extends Probe {
  maxTokens: number;
  /** Further fields of the body, with the runtime's names. */
  fields?: Record<string, unknown>;
}

interface AnyProbe extends Probe {
  bodyOf: (facts: Omit<BodyFacts, 'maxTokens'>) => Record<string, unknown>;
}

type Sent = { durationMs: number } | { failure: string };

/**
 * Sends a request with the shortest conversation to a target, and reads the whole answer.
 * @returns the time that it took, or the reason of its failure
 */
export const sendChatProbe = (
  deps: ProbeDependencies,
  model: Model,
  target: Target,
  { maxTokens, fields, ...probe }: ChatProbe,
): Promise<Sent> => {
  const bodyOf: AnyProbe['bodyOf'] = (facts) => requestBody(dialectOf(model), { ...facts, maxTokens }, PROBE_PROMPT, fields);
  return sendProbe(deps, model, target, { ...probe, bodyOf });
};

/**
 * Sends a request to a target, and reads the whole answer.
 * @returns the time that it took, or the reason of its failure
 */
export const sendProbe = async (
  { invoke, now, timeoutMs }: ProbeDependencies,
  model: Model,
  target: Target,
  { kind, bodyOf, take }: AnyProbe,
): Promise<Sent> => {
  const startMs = now();
  const requestId = newRequestId(startMs);
  const { endpoint, component, container_model: containerModel = '' } = target;
  // The request id is also the cache salt, so that no other request uses the probe's cache entries.
  const body = JSON.stringify(bodyOf({ containerModel, requestId, cacheSalt: requestId }));
  const signal = new AbortController();
  const deadline = AbortSignal.timeout(timeoutMs);
  deadline.addEventListener('abort', () => signal.abort(), { once: true });
  try {
    // The reader throws if the end of the answer is missing.
    for await (const chunks of invoke({ target, body, choices: 1, signal })) for (const chunk of chunks) take(chunk);
    return { durationMs: now() - startMs };
  } catch (error) {
    // The admin gets the container's text; the log doesn't.
    const { failure, failure_length } =
      error instanceof UpstreamFailed ? error.logged : { failure: codeOf(error), failure_length: undefined };
    logInfo('probe_failed', { endpoint, component, failure, failure_length });
    return {
      failure: deadline.aborted
        ? `The container did not answer ${kind} within ${timeoutMs / 1_000} s. See the endpoint's log in CloudWatch.`
        : explanationOf(error, kind, model),
    };
  }
};
