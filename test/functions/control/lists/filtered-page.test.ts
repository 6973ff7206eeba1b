import { describe, expect, test } from '@jest/globals';
import { filteredPage } from '../../../../functions/control/lists/filtered-page.ts';
import type { PageRequest } from '../../../../shared/http/page.ts';

const listOf = (count: number, isWanted: (entry: string) => boolean) => {
  const entries = Array.from({ length: count }, (_, i) => String(i).padStart(5, '0'));
  const reads: PageRequest[] = [];
  const read = async (request: PageRequest) => {
    reads.push(request);
    const start = request.after === undefined ? 0 : entries.indexOf(request.after) + 1;
    const page = entries.slice(start, start + request.limit);
    return { wanted: page.filter(isWanted), next: start + request.limit < count ? (page.at(-1) ?? null) : null };
  };
  return { entries, reads, read };
};

const search = async (count: number, isWanted: (entry: string) => boolean, limit: number) => {
  const list = listOf(count, isWanted);
  const pages: string[][] = [];
  let after: string | undefined;
  do {
    const { entries, next } = await filteredPage({ limit, after }, { read: list.read, cursorOf: (entry) => entry, isFiltered: true });
    pages.push(entries);
    after = next ?? undefined;
  } while (after !== undefined);
  return { ...list, pages };
};

describe('filteredPage', () => {
  test.each([1, 7, 100])('returns each wanted entry once, in pages of %d', async (limit) => {
    const isWanted = (entry: string): boolean => Number(entry) % 3 === 0;
    const { entries, pages } = await search(450, isWanted, limit);
    expect(pages.flat()).toEqual(entries.filter(isWanted));
    expect(pages.every((page) => page.length <= limit)).toBe(true);
  });

  test('ends without an empty page if the last entry fills one', async () => {
    expect((await search(100, (entry) => Number(entry) >= 98, 2)).pages).toEqual([['00098', '00099']]);
  });

  test('reads at most 1,000 entries for a page, which can be empty although there are more', async () => {
    const { pages, reads } = await search(2_500, (entry) => entry === '02400', 10);
    expect(pages).toEqual([[], [], ['02400']]);
    expect(reads).toHaveLength(25);
  });
});
