import type { LimiterItem } from './limiter-item.ts';
import { endsWithARequest, type Refusal } from './refusal.ts';

const MAX_ENTRIES = 10_000;
/** After an exact refusal this environment rejects requests by itself for at most this long, so that a raised limit is noticed. */
const MAX_REFUSAL_MS = 5_000;
/** A refusal that ends with some request can end at any moment: this only holds off a storm. */
const REQUEST_REFUSAL_MS = 100;

interface Seen {
  item: LimiterItem | undefined;
  seenAtMs: number;
}

/** An item that a key does not open is read again this often within a span: a flood of wrong secrets costs few reads. */
const MAX_SECOND_LOOKS = 5;
const SECOND_LOOKS_MS = 5_000;

interface Entry extends Seen {
  refusesUntilMs?: number;
  looks?: { sinceMs: number; count: number };
}

/**
 * This environment's last images of limiter items. They are never the authority: an admission's condition proves them, so a wrong one costs a round
 * trip and never admits a request too many.
 */
export const createLimiterCache = () => {
  const entries = new Map<string, Entry>();
  const looking = new Map<string, Promise<LimiterItem | undefined>>();
  const put = (id: string, entry: Entry): void => {
    entries.delete(id);
    entries.set(id, entry);
    if (entries.size > MAX_ENTRIES) for (const oldest of entries.keys()) return void entries.delete(oldest);
  };
  return {
    /** The last image of a limiter (`item` undefined: there was none) and its time; undefined without one. */
    get: (id: string): Seen | undefined => entries.get(id),
    set: (id: string, item: LimiterItem | undefined, nowMs: number): void => {
      const looks = entries.get(id)?.looks;
      put(id, { item, seenAtMs: nowMs, ...(looks && { looks }) });
    },
    /** The image of a plain read: a remembered refusal stays while the configuration is the same. */
    see: (id: string, item: LimiterItem | undefined, nowMs: number): void => {
      const entry = entries.get(id);
      const isSame = entry?.item?.cfg === item?.cfg;
      put(id, {
        item,
        seenAtMs: nowMs,
        ...(entry?.looks && { looks: entry.looks }),
        ...(isSame && entry?.refusesUntilMs !== undefined && { refusesUntilMs: entry.refusesUntilMs }),
      });
    },
    /**
     * Reads a limiter again whose image of a moment ago does not open: once for all concurrent callers, and five times in five seconds.
     * undefined: not now.
     */
    lookAgain: (id: string, nowMs: number, read: () => Promise<LimiterItem | undefined>): Promise<LimiterItem | undefined> | undefined => {
      const underWay = looking.get(id);
      if (underWay) return underWay;
      const entry = entries.get(id);
      if (entry) {
        if (!entry.looks || nowMs - entry.looks.sinceMs >= SECOND_LOOKS_MS) entry.looks = { sinceMs: nowMs, count: 0 };
        if (++entry.looks.count > MAX_SECOND_LOOKS) return undefined;
      }
      const look = read().finally(() => looking.delete(id));
      looking.set(id, look);
      return look;
    },
    /** Remembers that this image refuses requests. */
    refuse: (id: string, item: LimiterItem, reason: Refusal, nowMs: number): void => {
      const wait = Math.min(reason.retryAfterMs, endsWithARequest(reason) ? REQUEST_REFUSAL_MS : MAX_REFUSAL_MS);
      put(id, { item, seenAtMs: nowMs, refusesUntilMs: nowMs + wait });
    },
    /** Whether the image may refuse a request by itself, without a call. */
    refuses: (id: string, nowMs: number): boolean => nowMs < (entries.get(id)?.refusesUntilMs ?? 0),
    /** A release by this environment may have made room. */
    forgetRefusal: (id: string): void => {
      const entry = entries.get(id);
      if (entry) delete entry.refusesUntilMs;
    },
  };
};

export type LimiterCache = ReturnType<typeof createLimiterCache>;
