import { codeOf } from '../../../shared/http/errors.ts';
import { newRequestId } from '../../../shared/ids/request-id.ts';
import { logInfo } from '../../../shared/logging/log.ts';
import type { Model, Target } from '../../../shared/models/model.ts';
import type { ChatPrompt } from '../../../shared/tokens/prompt.ts';
import { dialects } from '../../../shared/upstream/dialects.ts';
import { MistranslatedRequest, publicText, RefusedByModel, type UpstreamCode, UpstreamFailed } from '../../../shared/upstream/errors.ts';
import type { Invoke } from '../../../shared/upstream/invocation.ts';
import { requestBody } from '../../../shared/upstream/request-body.ts';

const MAX_TOKENS = 1;

/** The prompt of the shortest conversation. */
export const PROBE_PROMPT = { messages: [{ role: 'user', content: 'Hi' }] } satisfies ChatPrompt;

// The request id is also the cache salt, so that no other request uses the probe's cache entries.
const probeBody = ({ dialect }: Model, { container_model: containerModel = '' }: Target, requestId: string): string =>
  JSON.stringify(requestBody(dialects[dialect], { containerModel, maxTokens: MAX_TOKENS, requestId, cacheSalt: requestId }, PROBE_PROMPT));

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

const explanationOf = (error: unknown, { dialect }: Model): string => {
  if (error instanceof MistranslatedRequest)
    return `The container does not understand requests in the dialect '${dialect}'. Choose the dialect of its runtime, or use a container that serves chat at /invocations.`;
  if (error instanceof RefusedByModel) return `The container rejected a short chat request: ${error.message}`;
  if (error instanceof UpstreamFailed)
    return `A short chat request failed: ${shortenError(error.detail)}. ${ADVICE[error.code as UpstreamCode]}`;
  throw error;
};

interface Probe {
  passed: boolean;
  detail: string;
  /** The container's count of the prompt, if it reports one. */
  promptTokens?: number | undefined;
}

/**
 * Sends one short chat request to a target, through the code that sends callers' requests.
 * @returns the duration of the answer, or the reason of its failure
 */
export const probeTarget = async (
  { invoke, now, timeoutMs }: { invoke: Invoke; now: () => number; timeoutMs: number },
  model: Model,
  target: Target,
): Promise<Probe> => {
  const startMs = now();
  const signal = new AbortController();
  const deadline = AbortSignal.timeout(timeoutMs);
  deadline.addEventListener('abort', () => signal.abort(), { once: true });
  try {
    let promptTokens: number | undefined;
    // Reads the whole answer; the reader throws if its end is missing.
    for await (const chunks of invoke({ target, body: probeBody(model, target, newRequestId(startMs)), choices: 1, signal }))
      for (const { usage } of chunks) if (typeof usage?.prompt_tokens === 'number') promptTokens = usage.prompt_tokens;
    return { passed: true, detail: `The container answered a short chat request in ${now() - startMs} ms.`, promptTokens };
  } catch (error) {
    const { endpoint, component } = target;
    // The admin gets the container's text; the log doesn't.
    const { failure, failure_length } =
      error instanceof UpstreamFailed ? error.logged : { failure: codeOf(error), failure_length: undefined };
    logInfo('probe_failed', { endpoint, component, failure, failure_length });
    const detail = deadline.aborted
      ? `The container did not answer a short chat request within ${timeoutMs / 1_000} s. See the endpoint's log in CloudWatch.`
      : explanationOf(error, model);
    return { passed: false, detail };
  }
};
