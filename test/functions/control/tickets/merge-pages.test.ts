import { expect, test } from '@jest/globals';
import { inOrder } from '../../../../functions/control/tickets/merge-pages.ts';

const page = (ids: string, hasMore = false) => ({ entries: [...ids].map((id) => ({ id })), hasMore });
const idsOf = ({ entries }: { entries: readonly { id: string }[] }) => entries.map(({ id }) => id).join('');

test('merges lists by their ids, and continues after the last entry of the page', () => {
  const merged = inOrder([page('ace'), page('bdf')], 4);
  expect(idsOf(merged)).toBe('abcd');
  expect(merged).toMatchObject({ has_more: true, next: 'd' });
  expect(inOrder([page('a'), page('b')], 4)).toMatchObject({ has_more: false, next: null });
});

test('loses no entry of a list whose page ended early, at the size limit of the database', () => {
  const after = (list: string, last: string, most: number) => {
    const left = [...list].filter((id) => id > last).join('');
    return page(left.slice(0, most), left.length > most);
  };
  let read = '';
  let last: string | null = '';
  while (last !== null) {
    const { entries, next }: ReturnType<typeof inOrder> = inOrder([after('acegi', last, 1), after('bdfhj', last, 4)], 4);
    read += idsOf({ entries });
    last = next;
  }
  expect(read).toBe('abcdefghij');
});
