import type { LimiterItem } from '../item/limiter-item.ts';
import { endsWithARequest, type LimiterRefusal } from '../item/refusal.ts';
import { createReadLimit } from './read-limit.ts';

const MAX_ENTRIES = 10_000;
// After an exact refusal, reject without a read for at most this long, so that a raised limit takes effect.
const MAX_REFUSAL_MS = 5_000;
// A refusal that ends with another request can end at any moment; this short wait only dampens bursts.
const REQUEST_REFUSAL_MS = 100;

interface CachedImage {
  item: LimiterItem | undefined;
  seenAtMs: number;
}

// Rereads of an item that does not match the presented key, per interval: many wrong secrets cost few reads.
const MAX_REREADS = 5;
const REREADS_MS = 5_000;

interface Entry extends CachedImage {
  refusesUntilMs?: number | undefined;
  rereads?: { sinceMs: number; count: number };
}

/**
 * This environment's last images of limiter items. They are never the authority: an admission's condition verifies
 * them, so a wrong image costs a round trip and never admits a request too many.
 */
export const createLimiterCache = () => {
  const entries = new Map<string, Entry>();
  const sharing = new Map<string, Promise<unknown>>();
  /** Runs the work once for all concurrent callers. */
  const share = <Result>(name: string, work: () => Promise<Result>): Promise<Result> => {
    const pending = sharing.get(name) as Promise<Result> | undefined;
    if (pending) return pending;
    const shared = work().finally(() => sharing.delete(name));
    sharing.set(name, shared);
    return shared;
  };
  const paused = new Map<string, number>();
  const put = (id: string, entry: Entry): void => {
    entries.delete(id);
    entries.set(id, entry);
    if (entries.size > MAX_ENTRIES) for (const oldest of entries.keys()) return void entries.delete(oldest);
  };
  return {
    /** The last image of a limiter and its time; `item` is undefined if the limiter did not exist. */
    get: (id: string): CachedImage | undefined => entries.get(id),
    set: (id: string, item: LimiterItem | undefined, nowMs: number): void => {
      const rereads = entries.get(id)?.rereads;
      put(id, { item, seenAtMs: nowMs, ...(rereads && { rereads }) });
    },
    /** Stores the image of a plain read; a stored refusal stays while the configuration is the same. */
    see: (id: string, item: LimiterItem | undefined, nowMs: number): void => {
      const entry = entries.get(id);
      const isSame = entry?.item?.cfg === item?.cfg;
      put(id, {
        item,
        seenAtMs: nowMs,
        ...(entry?.rereads && { rereads: entry.rereads }),
        ...(isSame && entry?.refusesUntilMs !== undefined && { refusesUntilMs: entry.refusesUntilMs }),
      });
    },
    /**
     * Reads a limiter again whose recent image does not match the presented key: once for all concurrent callers, at
     * most five times in five seconds. Returns undefined if no read is allowed now.
     */
    readAgain: (id: string, nowMs: number, read: () => Promise<LimiterItem | undefined>): Promise<LimiterItem | undefined> | undefined => {
      const name = `reread ${id}`;
      const entry = entries.get(id);
      if (entry && !sharing.has(name)) {
        if (!entry.rereads || nowMs - entry.rereads.sinceMs >= REREADS_MS) entry.rereads = { sinceMs: nowMs, count: 0 };
        if (++entry.rereads.count > MAX_REREADS) return undefined;
      }
      return share(name, read);
    },
    share,
    /** Limits the reads of each key. */
    reads: createReadLimit(),
    /** Remembers until when an organization is not grown. */
    pause: (id: string, untilMs: number): void => {
      if (paused.size >= MAX_ENTRIES) paused.clear();
      paused.set(id, untilMs);
    },
    isPaused: (id: string, nowMs: number): boolean => nowMs < (paused.get(id) ?? 0),
    /** Remembers a refusal that is based on this image. */
    refuse: (id: string, item: LimiterItem, reason: LimiterRefusal, nowMs: number): void => {
      const wait = Math.min(reason.retryAfterMs, endsWithARequest(reason) ? REQUEST_REFUSAL_MS : MAX_REFUSAL_MS);
      put(id, { item, seenAtMs: nowMs, refusesUntilMs: nowMs + wait });
    },
    /** The image can reject a request without a call. */
    refuses: (id: string, nowMs: number): boolean => nowMs < (entries.get(id)?.refusesUntilMs ?? 0),
    /** Forgets a refusal, because a release by this environment can have made room. */
    forgetRefusal: (id: string): void => {
      const entry = entries.get(id);
      if (entry) entry.refusesUntilMs = undefined;
    },
  };
};

export type LimiterCache = ReturnType<typeof createLimiterCache>;
