import { ApiError } from '../../../shared/http/errors.ts';
import { SECOND_MS } from '../../../shared/time/units.ts';
import { type Actor, isOfPlatform } from './actor.ts';

export type CallSpan = 'minute' | 'hour' | 'day';

// `account`: the organization of the caller, or the user if they belong to none. `resource`: the resource in the path,
// for each account. `recipient`: an email address.
type Per = 'user' | 'organization' | 'account' | 'resource' | 'recipient';

/** A number of calls that are allowed in a time. */
export interface Bound {
  per: Per;
  span: CallSpan;
  max: number;
  /** The number for users who work for the platform. Default: `max`. */
  platformMax?: number;
  /** The action in words, such as `make # changes`; `#` is the number. */
  can: string;
  /** Calls that are counted with one write. An environment that ends early loses some. Default: 1, which is exact. */
  countedAtOnce?: number;
}

interface CallLimit {
  /**
   * In the order in which they are counted: the user's first, so that one user's rejected calls use up nobody else's
   * share.
   */
  bounds: readonly Bound[];
  /**
   * Set if the rule counts it with what it creates, so that only successful calls count. Otherwise each call counts.
   */
  isCountedByRule?: true;
  /** Set if calls are accepted while the database takes no writes, so that they can't be counted. */
  isOpenInOutage?: true;
}

/**
 * Every limit of calls of the control plane. docs/control-plane.md has the same numbers, and docs/fairness.md the
 * shares that follow from them.
 */
export const CALL_LIMITS = {
  reads: {
    bounds: [
      { per: 'user', span: 'minute', max: 1_000, platformMax: 3_000, can: 'read # times', countedAtOnce: 20 },
      { per: 'organization', span: 'minute', max: 1_500, can: 'read # times', countedAtOnce: 20 },
    ],
    isOpenInOutage: true,
  },
  searches: {
    bounds: [
      { per: 'user', span: 'minute', max: 60, platformMax: 200, can: 'search # times' },
      { per: 'organization', span: 'minute', max: 100, can: 'search # times' },
    ],
    isOpenInOutage: true,
  },
  changes: {
    bounds: [
      { per: 'user', span: 'minute', max: 300, platformMax: 1_200, can: 'make # changes' },
      { per: 'organization', span: 'minute', max: 600, can: 'make # changes' },
      { per: 'account', span: 'day', max: 20_000, platformMax: 50_000, can: 'make # changes' },
    ],
  },
  scim_reads: {
    bounds: [{ per: 'organization', span: 'minute', max: 1_500, can: 'make # SCIM reads', countedAtOnce: 20 }],
    isOpenInOutage: true,
  },
  scim_changes: {
    bounds: [
      { per: 'organization', span: 'minute', max: 600, can: 'make # SCIM changes' },
      { per: 'organization', span: 'day', max: 20_000, can: 'make # SCIM changes' },
    ],
  },
  aws_calls: {
    bounds: [{ per: 'account', span: 'minute', max: 10, platformMax: 60, can: 'send # requests that wait for AWS' }],
  },
  deployments: {
    bounds: [{ per: 'account', span: 'day', max: 100, platformMax: 500, can: 'create or validate # deployments' }],
  },
  benchmarks: {
    bounds: [{ per: 'account', span: 'day', max: 100, platformMax: 500, can: 'start or validate # benchmarks' }],
  },
  api_keys: {
    bounds: [{ per: 'organization', span: 'day', max: 1_000, can: 'create # API keys' }],
    isCountedByRule: true,
  },
  playground_keys: {
    bounds: [
      { per: 'user', span: 'day', max: 100, can: 'create # playground keys' },
      { per: 'organization', span: 'hour', max: 200, can: 'create # playground keys' },
    ],
    isCountedByRule: true,
  },
  invitations: {
    bounds: [{ per: 'account', span: 'day', max: 200, platformMax: 2_000, can: 'send # invitations' }],
  },
  invitations_to_address: {
    bounds: [{ per: 'recipient', span: 'hour', max: 3, can: 'get # invitations' }],
    isCountedByRule: true,
  },
  webhook_tests: {
    bounds: [{ per: 'resource', span: 'minute', max: 10, can: 'be tested # times' }],
  },
  webhook_replays: {
    bounds: [{ per: 'resource', span: 'minute', max: 60, can: 'have # deliveries replayed' }],
  },
  tickets: {
    bounds: [{ per: 'organization', span: 'hour', max: 20, can: 'open # tickets' }],
    isCountedByRule: true,
  },
  ticket_messages: {
    bounds: [{ per: 'account', span: 'hour', max: 60, platformMax: 600, can: 'write # messages in tickets' }],
  },
  ticket_attachments: {
    bounds: [{ per: 'account', span: 'hour', max: 60, can: 'announce # files for tickets' }],
    isCountedByRule: true,
  },
  exports: {
    bounds: [{ per: 'account', span: 'day', max: 50, platformMax: 200, can: 'create # exports' }],
  },
  identity_provider_calls: {
    bounds: [
      { per: 'account', span: 'minute', max: 20, platformMax: 60, can: 'send # requests that use an identity provider or a DNS record' },
    ],
  },
  rerates: {
    bounds: [{ per: 'user', span: 'day', max: 100, can: 'create or execute # rerates' }],
  },
} as const satisfies Record<string, CallLimit>;
export type CallLimitName = keyof typeof CALL_LIMITS;

export const callLimitOf = (name: CallLimitName): CallLimit => CALL_LIMITS[name];

// Each call counts as one of these.
const KINDS: readonly CallLimitName[] = ['reads', 'searches', 'changes'];

/**
 * Returns the limits of a route, in the order in which its calls are counted. A route that names none is limited too: a
 * GET as a read, anything else as a change. Public routes have none: the table `attempts` counts those callers by
 * address and account.
 */
export const limitsOf = ({
  method,
  access,
  limits = [],
}: {
  method: string;
  access: string;
  limits?: readonly CallLimitName[];
}): readonly CallLimitName[] => {
  if (access === 'public') return [];
  if (limits.some((name) => KINDS.includes(name))) return limits;
  return [method === 'GET' ? 'reads' : 'changes', ...limits];
};

const SUBJECTS = {
  user: ['A user', 'You'],
  organization: ['An organization', 'Your organization'],
  account: ['An organization', 'Your organization'],
  resource: ['A webhook', 'This webhook'],
  recipient: ['An email address', 'This email address'],
} as const satisfies Record<Per, readonly [anyone: string, caller: string]>;

const numberText = (number: number): string => number.toLocaleString('en-US');

const everySpan = (span: CallSpan): string => `${span === 'hour' ? 'an' : 'a'} ${span}`;

/** The number of calls that a bound allows a role. */
export const maxOf = ({ max, platformMax = max }: Bound, actor: Pick<Actor, 'role'>): number => (isOfPlatform(actor) ? platformMax : max);

/** A bound in words for all callers, such as `A user can make 300 changes a minute (users of the platform: 1,200)`. */
export const textForAll = ({ per, can, span, max, platformMax }: Bound): string => {
  const others = platformMax === undefined ? '' : ` (users of the platform: ${numberText(platformMax)})`;
  return `${SUBJECTS[per][0]} can ${can.replace('#', numberText(max))} ${everySpan(span)}${others}`;
};

/** A bound is reached: 429. */
export class TooManyCalls extends ApiError {
  constructor(bound: Bound, actor: Pick<Actor, 'role' | 'organization'>, retryAfterMs: number) {
    const { per, can, span } = bound;
    const isOwn = per === 'account' && actor.organization === null;
    const seconds = Math.max(1, Math.ceil(retryAfterMs / SECOND_MS));
    super({
      status: 429,
      type: 'requests',
      code: 'rate_limit_exceeded',
      message: `${SUBJECTS[isOwn ? 'user' : per][1]} can ${can.replace('#', numberText(maxOf(bound, actor)))} ${everySpan(span)}. Try again in ${seconds} s.`,
      headers: { 'retry-after': String(seconds) },
    });
  }
}
