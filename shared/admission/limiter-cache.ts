import type { LimiterItem } from './limiter.ts';
import { endsWithARequest, type Refusal } from './refusal.ts';

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

/** What opens no more, or not yet, is looked at again this often within a span: a flood of wrong secrets costs few reads. */
const MAX_SECOND_LOOKS = 5;
const SECOND_LOOKS_MS = 5_000;

interface Entry extends Seen {
  refusesUntilMs?: number;
  looks?: { sinceMs: number; count: number };
}

/**
 * What this environment last saw of limiter items. Never the authority: an admission's condition proves what was taken
 * from here, and a wrong guess costs one more round trip and never a request too many.
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
    /** What was last seen of a limiter (`item` undefined: there was none) and when; undefined when nothing was. */
    get: (id: string): Seen | undefined => entries.get(id),
    set: (id: string, item: LimiterItem | undefined, nowMs: number): void => {
      const looks = entries.get(id)?.looks;
      put(id, { item, seenAtMs: nowMs, ...(looks && { looks }) });
    },
    /** What a mere look has found: a refusal that is remembered is still one while nothing is configured otherwise. */
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
     * Reads a limiter again that was seen a moment ago, because what was seen refuses: once for all who ask meanwhile, and five times in five seconds.
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
