import type { PresentedKey } from '../../../shared/admission/item/secret.ts';
import type { ApiEvent } from '../../../shared/http/api-event.ts';
import type { Reply } from '../../../shared/http/reply.ts';
import type { Prompt } from '../../../shared/tokens/prompt.ts';
import { type Admission, admit } from '../admission/admit.ts';
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
export interface AdmittedRequest<Request, P extends Prompt> extends ParsedRequest<Request, PreparedRequest<P>> {
  event: ApiEvent;
  claim: RequestClaim;
  admission: Admission;
  /** False if the key or the caller forbids storing the answer. */
  mayStore: boolean;
  headers: Record<string, string>;
  usage: RequestUsage;
  deadline: Deadline;
  settlement: Settlement;
  /** Undefined if the content isn't logged. */
  recorder: Recorder | undefined;
}

/**
 * Claims the request's idempotency key, if it has one, admits the request, and starts its deadline.
 * @returns the stored reply, if the idempotency key already has one
 * @throws 401, 403, 409, 429, 503
 */
export const admitRequest = async <Request extends InferenceRequest, P extends Prompt>(
  path: string,
  route: InferenceRoute<Request, P>,
  deps: Dependencies,
  event: ApiEvent,
  key: PresentedKey,
  parsed: ParsedRequest<Request, PreparedRequest<P>>,
  clock: Clock,
): Promise<AdmittedRequest<Request, P> | { replay: Reply }> => {
  const { request, model, price, prepared, authenticated, userId } = parsed;
  const parsedAtMs = deps.now();
  const { tokens, maxCostNanos } = prepared;
  const user = userId ?? request.user ?? undefined;
  const admissionRequest = { key, model: model.name, deployment: model.deployment?.id, tokens, maxCostNanos, user, authenticated };
  const claimed = await claimRequest(deps, event, admissionRequest, clock.getRemainingTimeInMillis());
  if ('replay' in claimed) return claimed;
  const { claim } = claimed;
  const admission = await releaseClaimOnFailure(claim, () => admit(deps.keys, { ...admissionRequest, requestId: claim.requestId }));
  if (route.refersToStored?.(request)) deps.keys.cache.reads.refund(key.keyId);
  const mayStore = admission.mayStore && (route.mayStore?.(request) ?? true);
  const headers = { ...admission.headers, ...prepared.headers, ...(claim.complete && !mayStore && NOT_STORED) };
  const facts = { event, parsedAtMs, path, request, model, price, prepared, admission, userId, claim, headers };
  const usage = trackUsage(facts, deps);
  const deadline = createDeadline(clock.getRemainingTimeInMillis(), request.stream === true, deps.now);
  const settlement = createSettlement(facts, usage, deadline, deps);
  deadline.start(settlement.expire);
  const recorder = isLogged(admission, event)
    ? createRecorder(event, path, admission, () => ({ schema: route.schema, ignored: route.ignored(request, model) }), deps.payloadLog)
    : undefined;
  return { ...parsed, event, claim, admission, mayStore, headers, usage, deadline, settlement, recorder };
};
