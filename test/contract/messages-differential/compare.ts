import { isDeepStrictEqual } from 'node:util';
import type { Reply } from './reply.ts';

/** A part in which two replies differ. */
export interface Difference {
  part: keyof Reply;
  vllm: unknown;
  sluice: unknown;
}

/** A difference and why it is right; without a reason, somebody must look at it. */
export interface Judged extends Difference {
  reason: string | undefined;
}

/** The parts in which two replies differ. */
export const differencesOf = (vllm: Reply, sluice: Reply): Difference[] =>
  (Object.keys(sluice) as (keyof Reply)[])
    .filter((part) => !isDeepStrictEqual(vllm[part], sluice[part]))
    .map((part) => ({ part, vllm: vllm[part], sluice: sluice[part] }));

const isSubset = (some: unknown, all: unknown): boolean => (some as string[]).every((entry) => (all as string[]).includes(entry));

// Reasons that hold for every request.
const GENERAL: Partial<Record<keyof Reply, (difference: Difference) => string | undefined>> = {
  id: ({ vllm, sluice }) => (vllm === 'chatcmpl' && sluice === 'msg' ? 'vLLM sends the id of its chat.' : undefined),
  error: ({ vllm, sluice }) => (vllm !== undefined && sluice !== undefined ? 'vLLM has error types of its own.' : undefined),
  'usage keys': ({ vllm, sluice }) => (isSubset(vllm, sluice) ? 'vLLM does not count cached and thinking tokens apart.' : undefined),
  events: ({ vllm, sluice }) =>
    isDeepStrictEqual(
      vllm,
      (sluice as string[]).filter((name) => name !== 'ping'),
    )
      ? 'vLLM sends no ping.'
      : undefined,
  faults: ({ sluice }) => ((sluice as string[]).length === 0 ? 'Only the stream of vLLM breaks this rule.' : undefined),
};

/**
 * The differences of two replies to one request, each with the reason why it is right, if one is known.
 * @param reasons those of this request
 */
export const judge = (vllm: Reply, sluice: Reply, reasons: Partial<Record<keyof Reply, string>> = {}): Judged[] =>
  differencesOf(vllm, sluice).map((difference) => ({
    ...difference,
    // A fault of our own stream is never right.
    reason: GENERAL[difference.part]?.(difference) ?? (difference.part === 'faults' ? undefined : reasons[difference.part]),
  }));
