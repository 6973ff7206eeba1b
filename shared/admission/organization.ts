import * as z from 'zod';
import { ApiError } from '../http/errors.ts';
import type { LimiterItem } from './limiter.ts';

/** Nano-dollars: up to a billion dollars. */
const Nanos = z.bigint().min(0n).max(1_000_000_000_000_000_000n);

/** What an organization may be limited to; what is absent does not bind. Its requests in flight always do: they stand in one item. */
export const OrganizationLimits = z.strictObject({
  requests_per_minute: z.int().min(0).max(1_000_000).optional(),
  tokens_per_minute: z.int().min(0).max(1_000_000_000).optional(),
  concurrency: z.int().min(0).max(1_000).default(1_000),
  month_budget_nanos: Nanos.optional(),
  /** Its requests are paid from a credit that is granted before. */
  prepaid: z.boolean().default(false),
});
export type OrganizationLimits = z.output<typeof OrganizationLimits>;

/** An organization that may send no requests: 403. */
export class OrganizationSuspended extends ApiError {
  constructor() {
    super({
      status: 403,
      type: 'permission_error',
      code: 'organization_suspended',
      message:
        'The organization is suspended: its API keys open nothing, and its members can change nothing. Ask the administrator of this service.',
    });
  }
}

/** The limiter of an organization that may send requests. A key that says that there is one, where there is none, is our own fault. */
export const checkOrganization = (item: LimiterItem | undefined): LimiterItem => {
  if (!item) throw new Error('An API key names limits of its organization, which has none.');
  if (item.status !== 'active') throw new OrganizationSuspended();
  return item;
};
