import type { PresentedKey } from '../../../shared/admission/item/secret.ts';
import type { ApiEvent } from '../../../shared/http/api-event.ts';
import { type ApiError, nameOf } from '../../../shared/http/errors.ts';
import type { Reply } from '../../../shared/http/reply.ts';
import { USER_HEADER } from '../../../shared/http/user-id.ts';
import type { Prompt } from '../../../shared/tokens/prompt.ts';
import { forDeployments, type Tokenizer } from '../../../shared/tokens/tokenizer.ts';
import type { AdmissionRequest } from '../admission/admission-request.ts';
import { type Admission, admit } from '../admission/admit.ts';
import type { Candidate } from '../fallback/candidate.ts';
import { fallbackHeader } from '../fallback/fallback-header.ts';
import { claimRequest, type RequestClaim, releaseClaimOnFailure } from '../idempotency/claim-request.ts';
import { isLogged } from '../payload-log/log-header.ts';
import { createDeadline, type Deadline } from './deadline.ts';
import type { Clock, Dependencies } from './dependencies.ts';
import type { InferenceRequest, InferenceRoute } from './inference-route.ts';
import type { ParsedRequest } from './parse-request.ts';
import type { PreparedRequest } from './prepare-request.ts';
import { createRecorder, type Recorder } from './record-reply.ts';
import { type RequestUsage, trackUsage } from './request-usage.ts';
import { createSettlement, type Settlement } from './settlement.ts';
import { NOT_STORED } from './stored-reply.ts';

/** A request in flight. Exactly one usage event will be written for it. */
export interface AdmittedRequest<Request, P extends Prompt> {
  event: ApiEvent;
  request: Request;
  userId: string | undefined;
  /** The models that can answer it, in the order in which they are tried. */
  candidates: readonly Candidate<PreparedRequest<P>>[];
  /** The reason for which the model that the request names can't be called. */
  failure: ApiError | undefined;
  claim: RequestClaim;
  admission: Admission;
  /** False if the key or the caller forbids storing the answer. */
  mayStore: boolean;
  /** The headers of an answer of a candidate. */
  headersOf: (candidate: Candidate<PreparedRequest>) => Record<string, string>;
  tokenizerOf: (candidate: Candidate<PreparedRequest>) => Tokenizer;
  usage: RequestUsage;
  deadline: Deadline;
  settlement: Settlement;
  /** Undefined if the content isn't logged. */
  recorder: Recorder | undefined;
}

// On the on-demand host, the tokenizer must know whose deployment it counts for.
const tokenizersOf = (
  { host, tokenizer }: Pick<Dependencies, 'host' | 'tokenizer'>,
  organization: string,
): AdmittedRequest<unknown, Prompt>['tokenizerOf'] => {
  if (host.scope !== 'on_demand') return () => tokenizer;
  const own = forDeployments(tokenizer, organization);
  return ({ isShared }) => (isShared ? tokenizer : own);
};

const dearest = (candidates: readonly Candidate<PreparedRequest>[]): bigint => {
  let mostNanos = 0n;
  for (const { prepared } of candidates) {
    const nanos = prepared.maxCostNanos();
    if (nanos > mostNanos) mostNanos = nanos;
  }
  return mostNanos;
};

// The most that any of the candidates can use.
const toAdmission = <Request extends InferenceRequest>(
  key: PresentedKey,
  { request, asked, model, prepared, authenticated, requestedModels, userId }: ParsedRequest<Request, PreparedRequest>,
  candidates: readonly Candidate<PreparedRequest>[],
): Omit<AdmissionRequest, 'requestId'> => ({
  key,
  authenticated,
  model: asked,
  otherModels: model.name === asked ? requestedModels : [...requestedModels, model.name],
  deployment: model.deployment?.id,
  tokens: Math.max(...candidates.map(({ prepared }) => prepared.tokens)),
  maxCostNanos: () => dearest(candidates),
  user: userId ?? request.user ?? undefined,
  userField: userId ? USER_HEADER : nameOf('user', prepared.window.names),
  maxTokensField: prepared.hasNoOutput ? undefined : nameOf('max_tokens', prepared.window.names),
});

/**
 * Claims the request's idempotency key, if it has one, admits the request, and starts its deadline.
 * @returns the stored reply, if the idempotency key already has one
 * @throws 401, 403, 409, 429, 503
 */
export const admitRequest = async <Request extends InferenceRequest, P extends Prompt>(
  path: string,
  route: Pick<InferenceRoute<Request, P>, 'schema' | 'refersToStored' | 'mayStore' | 'ignored'>,
  deps: Dependencies,
  event: ApiEvent,
  key: PresentedKey,
  parsed: ParsedRequest<Request, PreparedRequest<P>>,
  clock: Clock,
): Promise<AdmittedRequest<Request, P> | { replay: Reply }> => {
  const { request, others, failure, attempts, alias, split, userId } = parsed;
  const parsedAtMs = deps.now();
  const admissionRequest = toAdmission(key, parsed, [parsed, ...others]);
  const claimed = await claimRequest(deps, event, admissionRequest, clock.getRemainingTimeInMillis());
  if ('replay' in claimed) return claimed;
  const { claim } = claimed;
  const admission = await releaseClaimOnFailure(claim, () => admit(deps.keys, { ...admissionRequest, requestId: claim.requestId }));
  if (route.refersToStored?.(request)) deps.keys.cache.reads.refund(key.keyId);
  // The key's configuration can have changed since the request was parsed.
  const candidates = [parsed, ...others.filter(({ model }) => admission.mayFallBack(model.name))];
  const mayStore = admission.mayStore && (route.mayStore?.(request) ?? true);
  const headersOf: AdmittedRequest<Request, P>['headersOf'] = ({ prepared, index }) => ({
    ...admission.headers,
    ...prepared.headers,
    ...(index > 0 && fallbackHeader(index)),
    ...(claim.complete && !mayStore && NOT_STORED),
  });
  const facts = { event, parsedAtMs, path, request, alias, split, admission, userId, claim, headersOf };
  const tokenizerOf = tokenizersOf(deps, admission.organization);
  const usage = trackUsage(facts, parsed, attempts, { now: deps.now, tokenizerOf });
  const deadline = createDeadline(clock.getRemainingTimeInMillis(), request.stream === true, deps.now);
  const settlement = createSettlement(facts, usage, deadline, deps);
  deadline.start(settlement.expire);
  const ignored = (): string[] => route.ignored(request, usage.candidate().model);
  const recorder = isLogged(admission, event)
    ? createRecorder(event, path, admission, () => ({ schema: route.schema, ignored: ignored() }), deps.payloadLog)
    : undefined;
  const made = { claim, admission, mayStore, headersOf, tokenizerOf, usage, deadline, settlement, recorder };
  return { event, request, userId, candidates, failure, ...made };
};
