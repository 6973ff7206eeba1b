import type { TestRun } from '../support/clients/local-run.ts';
import { limitOrganization } from '../support/fixtures/limit-organization.ts';
import { newId } from '../support/fixtures/new-id.ts';

/** A key that callers use, and what is known of its organization. */
export interface Account {
  label: string;
  keyId: string;
  secret: string;
  organization: string;
  /** The organization has limits, and so limiter items. */
  isLimited: boolean;
  grantedNanos?: bigint;
  /** The error codes that the limits explain. */
  refusals: readonly string[];
}

interface Kind extends Pick<Account, 'label' | 'grantedNanos' | 'refusals'> {
  /** How many of 20 callers use it. */
  share: number;
  /** How many callers share a key at most; default: all of them. */
  callersOfKey?: number;
  requestsPerMinute?: number;
  budgetNanos?: bigint;
}

// A request and its twin, and requests that the caller has left, which run on.
const REQUESTS_OF_CALLER = 4;

const AMPLE_NANOS = 10n ** 15n;
// Enough for some dozens of requests.
const LITTLE_NANOS = 1_000_000n;

// A key with at most 12 requests in flight has one limiter item.
const CONCURRENCY_OF_PLAIN_KEY = 12;

const KINDS: readonly Kind[] = [
  { label: 'plain', share: 6, callersOfKey: CONCURRENCY_OF_PLAIN_KEY / REQUESTS_OF_CALLER, refusals: [] },
  { label: 'sharded', share: 6, refusals: [] },
  { label: 'limits and budget', share: 3, budgetNanos: AMPLE_NANOS, refusals: [] },
  { label: 'prepaid', share: 3, grantedNanos: AMPLE_NANOS, refusals: [] },
  { label: 'throttled', share: 1, requestsPerMinute: 60, refusals: ['rate_limit_exceeded'] },
  { label: 'little credit', share: 1, grantedNanos: LITTLE_NANOS, refusals: ['insufficient_quota', 'rate_limit_exceeded'] },
];

const SHARES = KINDS.reduce((sum, { share }) => sum + share, 0);
const WIDE = { requests_per_minute: 10_000_000, tokens_per_minute: 100_000_000_000 } as const;

const createAccount = async (run: TestRun, kind: Kind, callers: number): Promise<Account> => {
  const { label, grantedNanos, refusals, requestsPerMinute, budgetNanos } = kind;
  const organization = newId('organization');
  const isPlain = kind.callersOfKey !== undefined;
  const concurrency = isPlain ? CONCURRENCY_OF_PLAIN_KEY : REQUESTS_OF_CALLER * callers;
  const isLimited = grantedNanos !== undefined || requestsPerMinute !== undefined || budgetNanos !== undefined;
  if (isLimited)
    await limitOrganization(run.limiters, organization, {
      concurrency,
      ...(requestsPerMinute !== undefined && { requestsPerMinute }),
      ...(budgetNanos !== undefined && { budgets: { month: budgetNanos } }),
      isPrepaid: grantedNanos !== undefined,
    });
  if (grantedNanos !== undefined) await run.limiters.addGrant(organization, 1, grantedNanos);
  const { key_id: keyId, secret } = await run.createKey({ ...WIDE, org: organization, concurrency });
  return { label, keyId, secret, organization, isLimited, refusals, ...(grantedNanos !== undefined && { grantedNanos }) };
};

/** Creates the accounts of a load and returns that of each caller. */
export const createAccounts = async (run: TestRun, callers: number): Promise<Account[]> => {
  const ofCallers: Account[] = [];
  for (const kind of KINDS) {
    let left = Math.max(1, Math.round((callers * kind.share) / SHARES));
    while (left > 0) {
      const sharing = Math.min(left, kind.callersOfKey ?? left);
      const account = await createAccount(run, kind, sharing);
      ofCallers.push(...Array.from({ length: sharing }, () => account));
      left -= sharing;
    }
  }
  return ofCallers;
};

/** The accounts without repetition. */
export const distinct = (ofCallers: readonly Account[]): Account[] => [...new Set(ofCallers)];
