import { endsWithARequest, type Refusal } from '../limits/refusal.ts';
import type { LimiterItem } from './limiter.ts';

/** Bounds of what one function environment remembers. */
const MAX_ENTRIES = 10_000;
/** After an exact refusal this environment refuses by itself for at most this long, so that a raised limit is noticed. */
const MAX_REFUSAL_MS = 5_000;
/** What ends with some request may end at any moment; only a storm is held off. */
const REQUEST_REFUSAL_MS = 100;

export interface Seen {
  item: LimiterItem | undefined;
  seenAtMs: number;
}

interface Entry extends Seen {
  refusesUntilMs?: number;
}

/**
 * What this environment last saw of limiter items. Never the authority: an admission's condition proves what was taken
 * from here, and a wrong guess costs one more round trip and never a request too many.
 */
export const createLimiterCache = () => {
  const entries = new Map<string, Entry>();
  const put = (id: string, entry: Entry): void => {
    entries.delete(id);
    entries.set(id, entry);
    if (entries.size > MAX_ENTRIES) for (const oldest of entries.keys()) return void entries.delete(oldest);
  };
  return {
    /** What was last seen of a limiter (`item` undefined: there was none) and when; undefined when nothing was. */
    get: (id: string): Seen | undefined => entries.get(id),
    set: (id: string, item: LimiterItem | undefined, nowMs: number): void => put(id, { item, seenAtMs: nowMs }),
    /** Remembers that this image refuses. */
    refuse: (id: string, item: LimiterItem, reason: Refusal, nowMs: number): void => {
      const wait = Math.min(reason.retryAfterMs, endsWithARequest(reason) ? REQUEST_REFUSAL_MS : MAX_REFUSAL_MS);
      put(id, { item, seenAtMs: nowMs, refusesUntilMs: nowMs + wait });
    },
    /** Whether what is remembered may refuse by itself, without a call. */
    refuses: (id: string, nowMs: number): boolean => nowMs < (entries.get(id)?.refusesUntilMs ?? 0),
    /** A release by this environment may have made room. */
    forgetRefusal: (id: string): void => {
      const entry = entries.get(id);
      if (entry) delete entry.refusesUntilMs;
    },
  };
};

export type LimiterCache = ReturnType<typeof createLimiterCache>;
