import { HOUR_MS, MINUTE_MS, SECOND_MS } from '../time/units.ts';

// A document that can't be fetched again is used for an hour at most, so a withdrawn key is too.
const MAX_AGE_MS = HOUR_MS;
const REFETCH_AFTER_MS = 30 * MINUTE_MS;
// A newer document, or one that failed, is fetched at most this often, whatever the number of callers.
const RETRY_AFTER_MS = 30 * SECOND_MS;
const MAX_DOCUMENTS = 500;

// A caller waits for at most this many fetches of others that turn out not to be permitted.
const MAX_SHARED = 3;

interface Entry<T> {
  value?: { document: T; fetchedAtMs: number };
  failure?: unknown;
  triedAtMs: number;
  fetching?: Promise<boolean> | undefined;
}

export interface DocumentRequest {
  /** Called before a fetch; if it throws, nothing is fetched, and the error is not remembered. */
  beforeFetch?: (() => Promise<void>) | undefined;
  /** True: fetches again unless that was done in the last 30 s. */
  isNewerNeeded?: boolean;
}

/**
 * Caches documents for an hour, failures for 30 s, and at most 500 of both. Concurrent callers share a fetch.
 * @param load fetches and checks the document of a key, such as its URL
 * @param now milliseconds since the epoch
 */
export const createDocumentCache = <T>(load: (key: string) => Promise<T>, now: () => number) => {
  // The least recently used entry is the first one.
  const entries = new Map<string, Entry<T>>();

  const use = (key: string): Entry<T> => {
    const entry = entries.get(key) ?? { triedAtMs: Number.NEGATIVE_INFINITY };
    entries.delete(key);
    entries.set(key, entry);
    const [oldest] = entries.keys();
    if (entries.size > MAX_DOCUMENTS && oldest !== undefined) entries.delete(oldest);
    return entry;
  };

  const fetchInto = async (key: string, entry: Entry<T>): Promise<void> => {
    entry.triedAtMs = now();
    try {
      entry.value = { document: await load(key), fetchedAtMs: now() };
      entry.failure = undefined;
    } catch (error) {
      entry.failure = error;
    }
  };

  const isFresh = ({ value }: Entry<T>, ageMs: number): boolean => value !== undefined && now() - value.fetchedAtMs < ageMs;

  // False: the caller may not fetch.
  const startFetch = (key: string, entry: Entry<T>, isPermitted: () => Promise<boolean>): Promise<boolean> => {
    const start = async (): Promise<boolean> => {
      if (!(await isPermitted())) return false;
      await fetchInto(key, entry);
      return true;
    };
    entry.fetching = start().finally(() => {
      entry.fetching = undefined;
    });
    return entry.fetching;
  };

  // If another caller may not fetch, this one may.
  const refetch = async (key: string, entry: Entry<T>, { beforeFetch }: DocumentRequest): Promise<void> => {
    for (let shared = 0; entry.fetching && shared < MAX_SHARED; shared++) if (await entry.fetching) return;
    if (now() - entry.triedAtMs < RETRY_AFTER_MS) return;
    let refusal: { error: unknown } | undefined;
    const isPermitted = async (): Promise<boolean> => {
      await beforeFetch?.().catch((error: unknown) => {
        refusal = { error };
      });
      return !refusal;
    };
    await startFetch(key, entry, isPermitted);
    if (refusal) throw (refusal as { error: unknown }).error;
  };

  const refresh = async (key: string, entry: Entry<T>, request: DocumentRequest): Promise<void> => {
    try {
      await refetch(key, entry, request);
    } catch (error) {
      if (request.isNewerNeeded || !isFresh(entry, MAX_AGE_MS)) throw error;
    }
  };

  /** Returns a document. @throws what `load` or `beforeFetch` threw */
  return async (key: string, request: DocumentRequest = {}): Promise<T> => {
    const entry = use(key);
    if (request.isNewerNeeded || !isFresh(entry, REFETCH_AFTER_MS)) await refresh(key, entry, request);
    if (entry.value && isFresh(entry, MAX_AGE_MS)) return entry.value.document;
    throw entry.failure;
  };
};
