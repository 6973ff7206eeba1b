import type { StoredEntry } from '../../../shared/admission/item/reservation-entry.ts';
import { ownerIdOf } from '../../../shared/admission/item/shards.ts';
import type { Item } from '../../../shared/database/database.ts';
import { MINUTE_MS } from '../../../shared/time/units.ts';

interface Counted {
  admittedAtMs: number;
  tokens: number;
  requests: 1 | 0;
}

/** The most that an owner's requests have had at any time. */
export interface Most {
  /** In any 60 s. */
  requests: number;
  /** Reserved or used, in any 60 s. */
  tokens: number;
  inFlight: number;
  /** Spent and held. */
  nanos: bigint;
}

interface Owner {
  most: Most;
  inFlight: number;
  nanos: bigint;
  requests: number;
  tokens: number;
  window: Counted[];
  // The window's first element; earlier ones are over.
  first: number;
  current: Map<string, Counted>;
}

const entriesOf = (item: Item | undefined): Record<string, StoredEntry> => (item?.fl ?? {}) as Record<string, StoredEntry>;

/**
 * Counts what the reservations of each key and organization add up to, from the changes of the tables alone: it knows
 * nothing of shards, slots or counters.
 */
export const createLimitAuditor = (keysTable: string, usageTable: string) => {
  const owners = new Map<string, Owner>();
  const events = new Map<string, { tokens: number; nanos: bigint }>();

  const ownerOf = (id: string): Owner => {
    const known = owners.get(id);
    if (known) return known;
    const most = { requests: 0, tokens: 0, inFlight: 0, nanos: 0n };
    const made: Owner = { most, inFlight: 0, nanos: 0n, requests: 0, tokens: 0, window: [], first: 0, current: new Map() };
    owners.set(id, made);
    return made;
  };

  const admit = (owner: Owner, requestId: string, [admittedAtMs, tokens, holdNanos = 0]: StoredEntry): void => {
    for (let one = owner.window[owner.first]; one && one.admittedAtMs <= admittedAtMs - MINUTE_MS; one = owner.window[++owner.first]) {
      owner.requests -= one.requests;
      owner.tokens -= one.tokens;
      one.requests = 0;
      one.tokens = 0;
    }
    const counted: Counted = { admittedAtMs, tokens: tokens ?? 0, requests: 1 };
    owner.window.push(counted);
    owner.current.set(requestId, counted);
    owner.requests++;
    owner.tokens += counted.tokens;
    owner.inFlight++;
    owner.nanos += BigInt(holdNanos);
    const { most } = owner;
    most.requests = Math.max(most.requests, owner.requests);
    most.tokens = Math.max(most.tokens, owner.tokens);
    most.inFlight = Math.max(most.inFlight, owner.inFlight);
    if (owner.nanos > most.nanos) most.nanos = owner.nanos;
  };

  const end = (owner: Owner, requestId: string, [, tokens, holdNanos = 0]: StoredEntry): void => {
    const counted = owner.current.get(requestId);
    owner.current.delete(requestId);
    owner.inFlight--;
    const event = events.get(requestId);
    owner.nanos += (event?.nanos ?? 0n) - BigInt(holdNanos);
    if (!counted || counted.requests === 0) return;
    const change = (event && tokens !== null ? event.tokens : 0) - counted.tokens;
    counted.tokens += change;
    owner.tokens += change;
    // Without an event, the request was not admitted after all.
    if (event) return;
    counted.requests = 0;
    owner.requests--;
  };

  return {
    onChange: (table: string, before: Item | undefined, after: Item | undefined): void => {
      if (table === usageTable && after && !before) {
        const tokens = Number(after.prompt_tokens) + Number(after.completion_tokens);
        events.set(String(after.request_id), { tokens, nanos: BigInt(after.cost_nanos as bigint) });
      }
      if (table !== keysTable || before?.fl === after?.fl) return;
      const [earlier, later] = [entriesOf(before), entriesOf(after)];
      const owner = ownerOf(ownerIdOf(String((after ?? before)?.id)));
      for (const id in earlier) if (!(id in later)) end(owner, id, earlier[id] as StoredEntry);
      for (const id in later) if (!(id in earlier)) admit(owner, id, later[id] as StoredEntry);
    },
    mostOf: (ownerId: string): Most => ownerOf(ownerId).most,
    inFlightOf: (ownerId: string): number => ownerOf(ownerId).inFlight,
    events: (): number => events.size,
  };
};
