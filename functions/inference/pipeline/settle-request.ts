import { setTimeout as delay } from 'node:timers/promises';
import { usedBy } from '../../../shared/admission/plans/reservation-end.ts';
import type { ApiEvent } from '../../../shared/http/api-event.ts';
import { ApiError } from '../../../shared/http/errors.ts';
import { logError, logInfo } from '../../../shared/logging/log.ts';
import { UpstreamFailed } from '../../../shared/upstream/errors.ts';
import type { UsageEvent } from '../../../shared/usage/event.ts';
import { type Admission, release } from '../admission/admit.ts';
import type { Dependencies } from './dependencies.ts';

// The waits before retries of a settlement while DynamoDB is unavailable; then it is queued.
const SETTLEMENT_WAITS_MS = [250, 2_000];

type SettlementStores = Pick<Dependencies, 'usage' | 'keys'>;

type Facts = Record<string, unknown>;

// The function `metering` makes the settlement. If it can't be queued, the log has the event, and the sweep settles at
// cost 0.
const settleLater = async (
  { settlements }: Pick<Dependencies, 'settlements'>,
  { reservations, shards }: Admission,
  event: UsageEvent,
  failure: unknown,
  line: Facts,
): Promise<void> => {
  try {
    const [own] = reservations;
    if (!own) throw new Error('The admission has no reservation.');
    await settlements.send({ event, limiterId: own.limiterId, shards });
    logError('settlement_queued', failure, line);
  } catch (error) {
    logError('settlement_failed', failure, { ...line, queue: String(error) });
  }
};

/**
 * Writes a request's event, if there is none yet, then releases its reservations by the stored event. We, the database
 * client or the sweep can repeat every step: only the first event counts.
 */
export const settle = async ({ usage, keys }: SettlementStores, admission: Admission, event: UsageEvent): Promise<UsageEvent> => {
  const stored = await usage.putIfAbsent(event, admission.shards);
  await release(keys, admission, usedBy(stored, admission.admittedAtMs));
  return stored;
};

interface Ending {
  event: ApiEvent;
  admission: Admission;
  usageEvent: UsageEvent;
  mayWait?: boolean;
  error?: unknown;
}

// Without the upstream's own words, which can repeat content.
const upstreamFailureOf = (error: unknown): Partial<UpstreamFailed['logged']> => {
  const failure = error instanceof ApiError && error.cause instanceof UpstreamFailed ? error.cause : error;
  return failure instanceof UpstreamFailed ? failure.logged : {};
};

/** Settles an admitted request and logs its usage event. Never throws: a settlement that fails is queued. */
export const settleRequest = async (
  deps: SettlementStores & Pick<Dependencies, 'settlements'>,
  { event, admission, usageEvent, mayWait, error }: Ending,
): Promise<void> => {
  const line = {
    ...usageEvent,
    // The caller's own text is not logged.
    metadata: undefined,
    user: undefined,
    user_id: undefined,
    error_message: undefined,
    // A number, as CloudWatch needs it for a metric; exact up to nine million dollars.
    cost_nanos: Number(usageEvent.cost_nanos),
    ...(mayWait && { may_wait: true }),
    gateway_request_id: event.requestContext.requestId,
    ...(event.requestId !== admission.requestId && { attempt_request_id: event.requestId }),
    admission_round_trips: admission.roundTrips,
    ...(error instanceof ApiError && { code: error.code, status: error.status }),
    ...upstreamFailureOf(error),
  };
  const startedMs = performance.now();
  for (const waitMs of [...SETTLEMENT_WAITS_MS, undefined]) {
    try {
      const stored = await settle(deps, admission, usageEvent);
      // A request that was taken over after its settlement is billed for the first attempt only.
      const isBilled = stored.admitted_at === admission.admittedAtMs;
      const settle_ms = Math.round(performance.now() - startedMs);
      return logInfo(isBilled ? 'request' : 'request_repeated', { ...line, settle_ms });
    } catch (failure) {
      // The caller still gets the whole response.
      if (waitMs === undefined) return settleLater(deps, admission, usageEvent, failure, line);
      await delay(waitMs);
    }
  }
};
