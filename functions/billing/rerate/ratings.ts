import type { UsageEvent } from '../../../shared/usage/event.ts';
import type { GpuEvent } from '../../../shared/usage/gpu-event.ts';

type Rated = Pick<UsageEvent | GpuEvent, 'cost_nanos' | 'price_version' | 'rerate' | 'is_capped'>;

/** An event, and the later events that adjust its rating, in their order. */
export interface Ratings<Event extends Rated> {
  original: Event;
  again: Event[];
}

// Later ratings have the ids `<id>#<k>`, with k from 2.
const numberOf = (id: string): number => Number(id.split('#')[1] ?? 1);

/** Groups ratings by their event. @param events all ratings of each event, in any order */
export const ratingsOf = <Event extends Rated>(events: readonly Event[], idOf: (event: Event) => string): Ratings<Event>[] => {
  const byId = new Map<string, Event[]>();
  for (const event of events) {
    const [id = ''] = idOf(event).split('#', 1);
    byId.set(id, [...(byId.get(id) ?? []), event]);
  }
  return [...byId.values()].map((ratings) => {
    const [original, ...again] = ratings.sort((one, other) => numberOf(idOf(one)) - numberOf(idOf(other)));
    if (!original || numberOf(idOf(original)) !== 1) throw new Error(`The event of the rating ${idOf(ratings[0] as Event)} is missing.`);
    return { original, again };
  });
};

/** The price versions of a rerate, and its new costs. */
export interface NewRating<Event> {
  rerate: string;
  from: string;
  to: string;
  /** The event's cost at the new price, in nano-dollars. */
  costOf: (event: Event) => bigint;
}

/** The effect of a rerate on one event. */
export interface RatingChange<Event> {
  original: Event;
  oldNanos: bigint;
  newNanos: bigint;
  /** The number of the new rating; absent if it was stored before. */
  number?: number;
}

const sum = (events: readonly Rated[]): bigint => events.reduce((total, { cost_nanos }) => total + cost_nanos, 0n);

// An event that was capped at its hold is never charged more, whatever the price.
const withinHold = (original: Rated, nanos: bigint): bigint =>
  original.is_capped && nanos > original.cost_nanos ? original.cost_nanos : nanos;

/**
 * The effect of a rerate on an event, before or after it was stored. Undefined if the event's current rating is not by
 * the rerate's old price version.
 */
export const changeOf = <Event extends Rated>(
  { original, again }: Ratings<Event>,
  { rerate, from, costOf }: NewRating<Event>,
): RatingChange<Event> | undefined => {
  const made = again.findIndex((event) => event.rerate?.id === rerate);
  if (made !== -1) {
    const oldNanos = sum([original, ...again.slice(0, made)]);
    return { original, oldNanos, newNanos: oldNanos + (again[made] as Event).cost_nanos };
  }
  if ((again.at(-1) ?? original).price_version !== from) return undefined;
  return {
    original,
    oldNanos: sum([original, ...again]),
    newNanos: withinHold(original, costOf(original)),
    number: again.length + 2,
  };
};
