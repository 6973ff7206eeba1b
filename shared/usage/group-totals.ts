import { type Detail, MAX_USERS, type OrganizationTotals, OTHER_USERS } from './organization-totals.ts';
import { mergeTotals } from './totals.ts';

/** Totals of one span by a detail. */
export interface TotalsGroup extends Omit<OrganizationTotals, 'organization' | 'startMs'> {
  /**
   * On `(other)`, if it can contain users: the last user in alphabetical order who has totals of their own. All later
   * users count here.
   */
  lastUser?: string;
}

/** The id of a group among those of its span. */
export const groupIdOf = ({ model, route, deployment, keyId, userId, projectId, split }: Omit<TotalsGroup, 'totals'>): string =>
  // Rows without a project or a split keep the ids that they had before there were any.
  JSON.stringify([
    model,
    route,
    deployment,
    keyId,
    userId,
    ...(projectId === undefined ? [] : [projectId]),
    ...(split ? [[split.alias, split.side]] : []),
  ]);

const inDetail = (
  { model, route, deployment, keyId, userId, projectId, split }: TotalsGroup,
  detail: Detail,
): Omit<TotalsGroup, 'totals'> => ({
  model,
  route,
  deployment,
  ...(split && { split }),
  ...(detail !== 'model' && keyId !== undefined && { keyId }),
  ...(detail !== 'model' && projectId !== undefined && { projectId }),
  ...(detail === 'user' && userId !== undefined && { userId }),
});

/** Sums groups of one span, or of parts of it, by a detail. */
export const groupTotals = (groups: Iterable<TotalsGroup>, detail: Detail): TotalsGroup[] => {
  const sums = new Map<string, TotalsGroup>();
  for (const group of groups) {
    const of = inDetail(group, detail);
    const id = groupIdOf(of);
    const sum = sums.get(id);
    sums.set(id, { ...of, totals: sum ? mergeTotals(sum.totals, group.totals) : group.totals });
  }
  return [...sums.values()];
};

/** True for one user; false for none and for all others together. */
export const isNamed = (userId: string | null | undefined): userId is string => userId != null && userId !== OTHER_USERS;

/**
 * Keeps the first users in alphabetical order and counts all others as `(other)`. As with error codes, the choice
 * does not depend on the order of arrival, and a user among the first of a span is among the first of each of its
 * parts, so none of their counts are lost.
 */
export const foldUsers = (groups: readonly TotalsGroup[], maxUsers = MAX_USERS): TotalsGroup[] => {
  const users = [...new Set(groups.map(({ userId }) => userId).filter(isNamed))].sort();
  if (users.length < maxUsers) return [...groups];
  const lastUser = users[maxUsers - 1] as string;
  const folded = groups.map((group) => (isNamed(group.userId) && group.userId > lastUser ? { ...group, userId: OTHER_USERS } : group));
  return groupTotals(folded, 'user').map((group) => (group.userId === OTHER_USERS ? { ...group, lastUser } : group));
};
