import { linesOfBedrock, linesOfGateway } from './alternatives.ts';
import { MONTH_HOURS, MONTH_SECONDS } from './at-rest.ts';
import { totalNanos } from './line.ts';
import { linesOfMonth } from './month.ts';
import type { Resources } from './resources.ts';
import type { Usage } from './usage.ts';

/** More requests than an API Gateway of an account answers in a month. */
export const MAX_REQUESTS = 30_000_000_000n;

// Binary search for the smallest count at which `isTrue` holds, if it then holds for all larger counts.
const leastRequests = (isTrue: (requests: bigint) => boolean): bigint | undefined => {
  if (!isTrue(MAX_REQUESTS)) return undefined;
  let [low, high] = [0n, MAX_REQUESTS];
  while (low < high) {
    const middle = (low + high) / 2n;
    if (isTrue(middle)) high = middle;
    else low = middle + 1n;
  }
  return low;
};

/** Numbers of requests in a month; undefined if there is none. */
export interface BreakEven {
  /** From so many on, the gateway that always runs is cheaper. */
  gateway: bigint | undefined;
  /** From so many on, Sluice with one instance that always runs is cheaper than Bedrock. */
  bedrock: bigint | undefined;
  /** How many tokens a second the instance must generate for that, on average. */
  bedrockTokensPerSecond: bigint | undefined;
}

/** The numbers of requests, each as in the given usage, from which on the cheaper side changes. */
export const breakEven = (resources: Resources, usage: Usage): BreakEven => {
  const ours = (requests: bigint, instanceHours: bigint): bigint =>
    totalNanos(linesOfMonth(resources, { ...usage, requests, instanceHours }));
  const gateway = leastRequests((requests) => ours(requests, 0n) > totalNanos(linesOfGateway({ ...usage, requests })));
  const bedrock = leastRequests((requests) => ours(requests, BigInt(MONTH_HOURS)) < totalNanos(linesOfBedrock({ ...usage, requests })));
  return {
    gateway,
    bedrock,
    bedrockTokensPerSecond: bedrock === undefined ? undefined : (bedrock * usage.completionTokens) / MONTH_SECONDS,
  };
};
