import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { foldUsers, groupIdOf, groupTotals, type TotalsGroup } from '../../../shared/usage/group-totals.ts';
import { noTotals } from '../../../shared/usage/totals.ts';

const MAX_USERS = 3;
const Groups = fc.array(
  fc.record({ model: fc.constantFrom('small', null), user: fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f', 'B', '(other)', null) }),
  { maxLength: 40 },
);
const groupsOf = (drafts: readonly { model: string | null; user: string | null }[]): TotalsGroup[] =>
  drafts.map(({ model, user }, i) => ({
    ...{ model, route: null, deployment: null, keyId: 'key_1', userId: user },
    totals: { ...noTotals(), events: 1, cost_nanos: 2n ** BigInt(i) },
  }));
const sum = (...parts: readonly TotalsGroup[][]): TotalsGroup[] => foldUsers(groupTotals(parts.flat(), 'user'), MAX_USERS);
const inOrder = (groups: readonly TotalsGroup[]) =>
  groups.map(({ lastUser: _, ...group }) => group).toSorted((a, b) => (groupIdOf(a) < groupIdOf(b) ? -1 : 1));

describe('totals by user', () => {
  test('do not depend on how they are split into parts, although each part has a limited number of users', () => {
    fc.assert(
      fc.property(Groups, fc.nat(40), fc.nat(40), (drafts, i, j) => {
        const groups = groupsOf(drafts);
        const [from, to] = [i, j].toSorted((a, b) => a - b);
        const [a, b, c] = [groups.slice(0, from), groups.slice(from, to), groups.slice(to)].map((part) => sum(part)) as [
          TotalsGroup[],
          TotalsGroup[],
          TotalsGroup[],
        ];
        const whole = inOrder(sum(groups));
        expect(inOrder(sum(sum(a, b), c))).toEqual(whole);
        expect(inOrder(sum(sum(c, b), a))).toEqual(whole);
        expect(whole.reduce((all, { totals }) => all + totals.events, 0)).toBe(groups.length);
        const users = new Set(whole.map(({ userId }) => userId).filter((user) => user !== null && user !== '(other)'));
        expect([...users].toSorted()).toEqual(
          [...new Set(drafts.map(({ user }) => user))]
            .filter((user) => user !== null && user !== '(other)')
            .toSorted()
            .slice(0, MAX_USERS),
        );
      }),
      { numRuns: 200 },
    );
  });
});
