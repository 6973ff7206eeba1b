import { presentedKey } from '../../../shared/admission/keys/authenticate.ts';
import { ApiError } from '../../../shared/http/errors.ts';
import type { Model } from '../../../shared/models/model.ts';
import type { Price } from '../../../shared/prices/price.ts';
import type { TextPrompt } from '../../../shared/tokens/prompt.ts';
import { tokenCount } from '../../../shared/upstream/chunk.ts';
import type { Candidate } from '../fallback/candidate.ts';
import { orReplay } from '../idempotency/claim-request.ts';
import { type AdmittedRequest, admitRequest } from '../pipeline/admit-request.ts';
import type { Dependencies, Serve } from '../pipeline/dependencies.ts';
import { invokeDeployment, waitMsOf } from '../pipeline/deployment-request.ts';
import { type Prepare, parseRequest } from '../pipeline/parse-request.ts';
import { type PreparedRequest, prepareRequest } from '../pipeline/prepare-request.ts';
import { settleOnFailure } from '../pipeline/settlement.ts';
import { NOT_STORED } from '../pipeline/stored-reply.ts';
import { countUncounted } from './count-uncounted.ts';
import { fitTexts } from './fit-texts.ts';
import { invokeCalls } from './invoke-calls.ts';
import type { PoolingPart, PoolingReply, PoolingRequest, PoolingRoute } from './pooling-route.ts';
import { replyText, textReply } from './reply-text.ts';

type Prepared = PreparedRequest<TextPrompt>;
type Admitted<Request> = AdmittedRequest<Request, TextPrompt>;

// A slow caller has at least this long to read the reply.
const MIN_READ_MS = 10_000;

const prepareTexts = <Request extends PoolingRequest, Result>(
  { task, checkSupport, toPrompt, ignored, isDocumented }: PoolingRoute<Request, Result>,
  request: Request,
  model: Model,
  price: Price,
  waitMs: number,
): Prepared => {
  const prepared = prepareRequest<Request, TextPrompt>(
    {
      task,
      maxTokens: () => 0,
      checkSupport,
      choices: () => 1,
      toPrompt,
      ignored,
      isDocumented,
      window: () => ({ requestedTokens: 0, whenExceeded: 'error', maxPromptTokens: undefined }),
    },
    request,
    model,
    price,
    waitMs,
  );
  return { ...prepared, hasNoOutput: true };
};

// Removes fields that the pipeline reads but these routes don't have, because they were not validated.
const withoutOthers = <Request extends PoolingRequest>(request: Request): Request => ({
  ...request,
  stream: undefined,
  metadata: undefined,
  prompt_cache_isolation_key: undefined,
  perf_metrics_in_response: undefined,
  echo: undefined,
});

// Vectors and scores of different models can't be compared, so no other model answers.
const only = ({ candidates }: Admitted<PoolingRequest>): Candidate<Prepared> => candidates[0] as Candidate<Prepared>;

const invokeModel = async <Request extends PoolingRequest, Result>(
  route: PoolingRoute<Request, Result>,
  deps: Dependencies,
  admitted: Admitted<Request>,
): Promise<PoolingPart<Result>[]> => {
  const { admission, deadline, settlement } = admitted;
  const { model, prepared } = only(admitted);
  let parts: PoolingPart<Result>[] = [];
  const invoke = (current: Model, signal: AbortController) =>
    invokeCalls(route, deps, admitted, prepared.prompt, current, signal, (done) => {
      parts = done;
    });
  const answer = model.deployment
    ? invokeDeployment(deps, { model, prepared, admission, deadline, settlement }, invoke)
    : invoke(model, deadline.abort);
  for await (const _ of answer) if (deadline.stopped()) break;
  return parts;
};

// The pipeline's own text is about generated tokens.
const toPoolingError = (error: unknown): unknown => {
  if (!(error instanceof ApiError) || error.code !== 'upstream_timeout') return error;
  const { status, type, code, headers, cause } = error;
  const message = 'The model took too long to answer. Send fewer or shorter texts in a request.';
  return new ApiError({ status, type, code, headers, cause, message });
};

// The runtime's count; undefined if it did not count each call.
const promptTokensOf = (parts: readonly PoolingPart<unknown>[]): number | undefined =>
  parts.reduce<number | undefined>(
    (sum, { promptTokens }) => (sum === undefined || promptTokens === undefined ? undefined : sum + promptTokens),
    0,
  );

const respond = async <Request extends PoolingRequest, Result>(
  route: PoolingRoute<Request, Result>,
  admitted: Admitted<Request>,
  parts: readonly PoolingPart<Result>[],
): ReturnType<Serve> => {
  const { request, event, claim, mayStore, headersOf, usage, deadline, settlement, recorder } = admitted;
  const candidate = only(admitted);
  const { model, prepared } = candidate;
  const headers = headersOf(candidate);
  await settlement.complete();
  const reply: PoolingReply = {
    requestId: claim.requestId,
    model: model.name,
    promptTokens: tokenCount(usage.total().prompt_tokens) ?? 0,
  };
  const results = parts.flatMap((part) => part.results);
  recorder?.recordContent(() => [...route.write(request, route.logsResults ? results : [], reply)].join(''));
  const text = replyText(route.write(request, results, reply));
  const isStored = await claim.complete?.(() =>
    mayStore && 'whole' in text
      ? { contentType: 'application/json', body: text.whole, ...(prepared.ignored && { ignored: prepared.ignored }) }
      : undefined,
  );
  const leftMs = Math.max(deadline.leftMs(), MIN_READ_MS);
  return textReply(event.requestId, text, isStored === false ? { ...headers, ...NOT_STORED } : headers, leftMs, () =>
    route.free?.(results),
  );
};

/**
 * Serves one request for vectors or scores, as `serve` does for generated text: one admission, one usage event, and a
 * reply that is whole or an error. A failed call of several fails the request, which then costs nothing.
 * @param path the route's path, as usage events record it
 */
export const servePooling = <Request extends PoolingRequest, Result>(
  path: string,
  route: PoolingRoute<Request, Result>,
  deps: Dependencies,
): Serve => {
  const prepare: Prepare<Request, Prepared> = (request, model, price, event) =>
    prepareTexts(route, request, model, price, waitMsOf(event, model, false));
  return async (event, clock) => {
    const key = presentedKey(event, deps.host);
    const parsed = await orReplay(deps, event, key, () => parseRequest(route, prepare, deps, key, event));
    if ('replay' in parsed) return parsed.replay;
    const bounded = { ...parsed, request: withoutOthers(parsed.request) };
    const admitted = await admitRequest(path, route, deps, event, key, bounded, clock);
    if ('replay' in admitted) return admitted.replay;
    const { request, usage, deadline, settlement, recorder } = admitted;
    const candidate = only(admitted);
    const { model, prepared } = candidate;
    const tokenizer = admitted.tokenizerOf(candidate);
    const answer = async (): ReturnType<Serve> => {
      try {
        const parts = await settleOnFailure(settlement, async () => {
          await fitTexts(tokenizer, model, prepared.prompt, (index) => route.nameOf(request, index));
          usage.fitted({ prompt: prepared.prompt, maxTokens: 0 });
          deadline.abort.signal.throwIfAborted();
          const answered = await invokeModel(route, deps, admitted);
          const promptTokens = promptTokensOf(answered);
          if (promptTokens === undefined || promptTokens > prepared.maxPromptTokens) await countUncounted(tokenizer, admitted, candidate);
          settlement.count([{ usage: { ...(promptTokens !== undefined && { prompt_tokens: promptTokens }), completion_tokens: 0 } }]);
          return answered;
        });
        return await respond(route, admitted, parts);
      } catch (error) {
        throw toPoolingError(error);
      }
    };
    return recorder ? recorder.recordReply(answer) : answer();
  };
};
