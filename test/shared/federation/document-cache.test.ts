import { beforeEach, describe, expect, test } from '@jest/globals';
import { createDocumentCache } from '../../../shared/federation/document-cache.ts';

const MINUTE_MS = 60_000;

let nowMs: number;
let loads: string[];
let load: (key: string) => Promise<string>;
beforeEach(() => {
  nowMs = 0;
  loads = [];
  load = async (key) => `${key}${loads.length}`;
});

const open = () =>
  createDocumentCache(
    (key) => {
      loads.push(key);
      return load(key);
    },
    () => nowMs,
  );

const failing = async (): Promise<never> => {
  throw new Error('down');
};

describe('createDocumentCache', () => {
  test('returns a document for half an hour, then fetches it again', async () => {
    const get = open();
    expect(await get('a')).toBe('a1');
    nowMs = 30 * MINUTE_MS - 1;
    expect(await get('a')).toBe('a1');
    nowMs += 1;
    expect(await get('a')).toBe('a2');
  });

  test('uses a document that cannot be fetched again for an hour at most', async () => {
    const get = open();
    await get('a');
    load = failing;
    nowMs = 60 * MINUTE_MS - 1;
    expect(await get('a')).toBe('a1');
    nowMs += 1;
    await expect(get('a')).rejects.toThrow('down');
  });

  test('remembers a failure for 30 s', async () => {
    load = failing;
    const get = open();
    await expect(get('a')).rejects.toThrow('down');
    load = async () => 'up';
    nowMs = 29_999;
    await expect(get('a')).rejects.toThrow('down');
    expect(loads).toHaveLength(1);
    nowMs = 30_000;
    expect(await get('a')).toBe('up');
  });

  test('fetches a newer document at most every 30 s', async () => {
    const get = open();
    await get('a');
    nowMs = 29_999;
    expect(await get('a', { isNewerNeeded: true })).toBe('a1');
    nowMs = 30_000;
    expect(await get('a', { isNewerNeeded: true })).toBe('a2');
  });

  test('shares a fetch between callers', async () => {
    const get = open();
    expect(await Promise.all([get('a'), get('a'), get('a')])).toEqual(['a1', 'a1', 'a1']);
  });

  test('fetches and remembers nothing if the caller may not fetch', async () => {
    const get = open();
    const beforeFetch = async (): Promise<void> => {
      throw new Error('too many');
    };
    await expect(get('a', { beforeFetch })).rejects.toThrow('too many');
    expect(loads).toEqual([]);
    expect(await get('a')).toBe('a1');
    nowMs = 40 * MINUTE_MS;
    expect(await get('a', { beforeFetch })).toBe('a1');
    await expect(get('a', { beforeFetch, isNewerNeeded: true })).rejects.toThrow('too many');
  });

  test('counts a fetch that callers share once, and fetches for those who may', async () => {
    const get = open();
    let counted = 0;
    const beforeFetch = async (): Promise<void> => {
      counted++;
    };
    const refusing = async (): Promise<void> => {
      throw new Error('too many');
    };
    const refused = get('a', { beforeFetch: refusing });
    const shared = [get('a', { beforeFetch }), get('a', { beforeFetch })];
    await expect(refused).rejects.toThrow('too many');
    expect(await Promise.all(shared)).toEqual(['a1', 'a1']);
    expect([counted, loads.length]).toEqual([1, 1]);
  });

  test('keeps the 500 documents that were used last', async () => {
    const get = open();
    for (let i = 0; i < 500; i++) await get(`${i}.`);
    await get('0.');
    await get('500.');
    loads = [];
    await get('0.');
    expect(loads).toEqual([]);
    await get('1.');
    expect(loads).toEqual(['1.']);
  });
});
