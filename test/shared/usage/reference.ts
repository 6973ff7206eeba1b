import { DAY_MS } from '../../../shared/time/units.ts';

const SLOT_MS = 10_000;
const slotOf = (ms: number): number => Math.floor(ms / SLOT_MS);
// A slot lasts ten seconds; it counts if a part of it is in the last 60 s.
const countsAt = (slot: number, now: number): boolean => (slot + 1) * SLOT_MS > slotOf(now) * SLOT_MS - 60_000;

export interface ReferenceLimits {
  requests: number;
  tokens: number;
  concurrency: number;
  /** In nano-dollars. */
  day?: bigint;
  month?: bigint;
  total?: bigint;
  isPrepaid?: boolean;
}

export interface ReferenceRequest {
  id: string;
  arrivedAtMs: number;
  tokens: number;
  holdNanos: bigint;
}

export const createReference = (limits: ReferenceLimits) => {
  const requests = new Map<number, number>();
  const tokens = new Map<number, number>();
  const inFlight = new Map<string, ReferenceRequest>();
  const spent = new Map<string, bigint>();
  let credit = 0n;

  const add = (counts: Map<number, number>, slot: number, amount: number): void => void counts.set(slot, (counts.get(slot) ?? 0) + amount);
  const counted = (counts: Map<number, number>, now: number): number =>
    [...counts].filter(([slot]) => countsAt(slot, now)).reduce((sum, [, count]) => sum + count, 0);
  const periodsOf = ({ arrivedAtMs }: ReferenceRequest) => ({
    day: `day ${Math.floor(arrivedAtMs / DAY_MS)}`,
    month: `month ${new Date(arrivedAtMs).toISOString().slice(0, 7)}`,
    total: 'total',
  });
  const isLimited = limits.isPrepaid || limits.day !== undefined || limits.month !== undefined || limits.total !== undefined;
  const spend = (request: ReferenceRequest, amount: bigint): void => {
    for (const period of Object.values(periodsOf(request))) spent.set(period, (spent.get(period) ?? 0n) + amount);
    if (limits.isPrepaid) credit -= amount;
  };
  const isPayable = (request: ReferenceRequest): boolean => {
    if (!isLimited || request.holdNanos === 0n) return true;
    const periods = periodsOf(request);
    for (const name of ['day', 'month', 'total'] as const) {
      const limit = limits[name];
      if (limit !== undefined && (spent.get(periods[name]) ?? 0n) + request.holdNanos > limit) return false;
    }
    return !limits.isPrepaid || credit >= request.holdNanos;
  };

  return {
    fits: (request: ReferenceRequest, now: number): boolean =>
      counted(requests, now) + 1 <= limits.requests &&
      counted(tokens, now) + request.tokens <= limits.tokens &&
      inFlight.size + 1 <= limits.concurrency &&
      isPayable(request),
    admit: (request: ReferenceRequest, now: number): void => {
      add(requests, slotOf(now), 1);
      add(tokens, slotOf(now), request.tokens);
      inFlight.set(request.id, request);
      if (isLimited) spend(request, request.holdNanos);
    },
    /** Ends a request that was admitted at `admittedAtMs`; ending it again changes nothing. */
    end: (id: string, admittedAtMs: number, now: number, used: { tokens: number; costNanos: bigint } | 'undone'): void => {
      const request = inFlight.get(id);
      if (!request) return;
      inFlight.delete(id);
      const slot = slotOf(admittedAtMs);
      const { tokens: usedTokens, costNanos } = used === 'undone' ? { tokens: 0, costNanos: 0n } : used;
      if (countsAt(slot, now)) {
        add(tokens, slot, usedTokens - request.tokens);
        if (used === 'undone') add(requests, slot, -1);
      }
      spend(request, costNanos - (isLimited ? request.holdNanos : 0n));
    },
    grant: (amount: bigint): void => {
      credit += amount;
    },
    inFlight: (): string[] => [...inFlight.keys()].sort(),
    spentInAll: (): bigint => spent.get('total') ?? 0n,
    spentIn: (period: string): bigint => spent.get(period) ?? 0n,
    credit: (): bigint => credit,
  };
};

export type Reference = ReturnType<typeof createReference>;
