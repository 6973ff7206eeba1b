import type { ApiEvent } from '../../../shared/http/api-event.ts';
import { ApiError, withNames } from '../../../shared/http/errors.ts';
import { DeploymentNotReady } from '../../../shared/models/errors.ts';
import type { Model } from '../../../shared/models/model.ts';
import type { UpstreamChunk } from '../../../shared/upstream/chunk.ts';
import type { Outcome } from '../../../shared/usage/event.ts';
import type { Admission } from '../admission/admit.ts';
import { isWithoutCapacity } from '../capacity/without-capacity.ts';
import type { Candidate } from '../fallback/candidate.ts';
import type { RequestClaim } from '../idempotency/claim-request.ts';
import type { Deadline } from './deadline.ts';
import type { Dependencies } from './dependencies.ts';
import type { InferenceRequest } from './inference-route.ts';
import type { PreparedRequest } from './prepare-request.ts';
import type { RequestUsage } from './request-usage.ts';
import { settleRequest } from './settle-request.ts';

/** The end of an admitted request. Whichever call comes first settles it; only one usage event is written. */
export interface Settlement {
  /** Counts chunks before they are used. @throws after the deadline, which has settled the request without them */
  count: (chunks: readonly UpstreamChunk[]) => void;
  /** Settles a complete answer. From its call on the deadline no longer counts. */
  complete: () => Promise<void>;
  /**
   * Settles an answer that the deadline cut off after it had begun.
   * @returns the last chunk of its reply, which ends every choice with `length`; undefined if it wasn't cut off
   */
  cutOff: () => Promise<UpstreamChunk | undefined>;
  /** Settles a failure. @returns the error for the caller */
  fail: (error: unknown) => Promise<Error>;
  /** Settles an answer whose caller has left, if it isn't settled, and frees its idempotency key if it isn't stored. */
  abandon: () => Promise<void>;
  /** Settles at the deadline, because the answer of a caller that stopped reading never ends. */
  expire: () => Promise<void>;
  /** Calls back after the settlement, or at once if it has begun. */
  onSettled: (then: () => Promise<void>) => void;
}

interface SettlementFacts {
  event: ApiEvent;
  request: InferenceRequest;
  admission: Admission;
  claim: RequestClaim;
  /** The headers of an answer of a candidate. */
  headersOf: (candidate: Candidate<PreparedRequest>) => Record<string, string>;
}

// On the on-demand host the target is the caller's own deployment, so the error names the deployment.
const toHostError = ({ scope }: Dependencies['host'], { name }: Model, error: Error): Error =>
  scope === 'on_demand' && isWithoutCapacity(error) ? new DeploymentNotReady(name, error) : error;

const lastChunkOf = (choices: number): UpstreamChunk => ({
  choices: Array.from({ length: choices }, (_, index) => ({ index, delta: {}, finish_reason: 'length' })),
});

/** The settlement of one admitted request, whose deadline must call `expire`. */
export const createSettlement = (
  { event, request, admission, claim, headersOf }: SettlementFacts,
  usage: RequestUsage,
  deadline: Deadline,
  deps: Pick<Dependencies, 'host' | 'usage' | 'keys' | 'settlements'>,
): Settlement => {
  let settlement: Promise<void> | undefined;
  let afterSettlement = async (): Promise<void> => undefined;
  let isComplete = false;

  // The model worked for an answer that was cut off, so it is delivered and charged.
  const isCutOff = (): boolean => deadline.stopped() === 'timed_out' && usage.hasOutput();

  const settleAs = async (outcome: Outcome, error?: Error): Promise<void> => {
    deadline.end();
    const wasCutOff = isCutOff();
    // An answer that broke off is charged for what was delivered.
    if (outcome !== 'completed' && (request.stream || wasCutOff)) await usage.ended();
    const mayWait = usage.candidate().prepared.waitMs > 0;
    await settleRequest(deps, { event, admission, usageEvent: usage.toEvent(outcome, error), mayWait, error });
    // The reply of an answer that was cut off is stored, as a complete one is.
    if (outcome !== 'completed' && !wasCutOff) await claim.release();
    await afterSettlement();
  };

  const settle = (outcome: Outcome, error?: Error): Promise<void> => {
    settlement ??= settleAs(outcome, error);
    return settlement;
  };

  return {
    count: (chunks) => {
      if (deadline.stopped() === 'timed_out') throw deadline.error();
      usage.count(chunks);
    },
    complete: async () => {
      isComplete = true;
      await usage.ended();
      await settle('completed');
    },
    cutOff: async () => {
      if (!isCutOff()) return undefined;
      await settle('timed_out');
      return lastChunkOf(usage.candidate().prepared.choices);
    },
    fail: async (error) => {
      const stopped = deadline.stopped();
      const cause = error instanceof Error ? error : new Error(String(error));
      const failure = stopped ? deadline.error() : toHostError(deps.host, usage.candidate().model, cause);
      // The failure may be a bug of ours while the model is still at work.
      deadline.abort.abort();
      await settle(stopped ?? 'upstream_failed', failure);
      if (!(failure instanceof ApiError)) return failure;
      const candidate = usage.candidate();
      const headers = { ...headersOf(candidate), ...(stopped && { 'x-should-retry': 'false' }) };
      // It advises to lower the limit of the answer, which is not called the same on all routes.
      const isTimeout = failure.code === 'upstream_timeout';
      return failure.withHeaders(headers, isTimeout ? withNames(failure.message, candidate.prepared.window.names) : failure.message);
    },
    abandon: async () => {
      await settle('client_closed');
      // Nothing was stored of an answer that was cut off while its caller didn't read.
      if (deadline.stopped() === 'timed_out') await claim.release();
    },
    expire: async () => {
      if (isComplete) return;
      deadline.stop('timed_out');
      const wasCutOff = isCutOff();
      if (wasCutOff) usage.count([lastChunkOf(usage.candidate().prepared.choices)]);
      await settle('timed_out', wasCutOff ? undefined : deadline.error());
    },
    onSettled: (then) => {
      if (settlement) void settlement.then(then);
      else {
        const earlier = afterSettlement;
        afterSettlement = async () => {
          await earlier();
          await then();
        };
      }
    },
  };
};

/** Runs a step before the model answers. A failure settles the request, and is thrown as the caller's error. */
export const settleOnFailure = async <Result>({ fail }: Settlement, work: () => Promise<Result>): Promise<Result> => {
  try {
    return await work();
  } catch (error) {
    throw await fail(error);
  }
};
