import { type Grant, isGrant } from '../../../shared/credit/credit-store.ts';
import { DAY_MS } from '../../../shared/time/units.ts';

const dayStartOf = (ms: number): number => ms - (ms % DAY_MS);

/** Those that expire first are used first, and of these the older ones. */
const inOrderOfUse = (grants: readonly Grant[]): Grant[] =>
  [...grants].sort(
    (a, b) => (a.expires_at ?? Number.POSITIVE_INFINITY) - (b.expires_at ?? Number.POSITIVE_INFINITY) || a.number - b.number,
  );

/**
 * What is left of each grant at the beginning of a UTC day. Of each earlier day, the cost that was paid from credit,
 * and the deductions, use up the grants of that day. Cost that exceeds them is a debt of the next grants.
 * @param entries the ledger of one organization
 * @param costByDay nano-dollars paid from credit, by UTC day such as `2026-11-21`
 * @param atMs a UTC midnight
 * @returns nano-dollars by the number of the grant; without grants that were made later
 */
export const remainingOfGrants = (entries: readonly Grant[], costByDay: ReadonlyMap<string, bigint>, atMs: number): Map<number, bigint> => {
  const use = new Map<number, bigint>();
  const add = (dayMs: number, nanos: bigint): void => void use.set(dayMs, (use.get(dayMs) ?? 0n) + nanos);
  for (const [day, nanos] of costByDay) add(Date.parse(day), nanos);
  for (const entry of entries)
    if (entry.expired_grant === undefined) add(dayStartOf(entry.granted_at), isGrant(entry) ? 0n : -entry.amount_nanos);

  // What has expired can't pay for usage that comes later, even of a day before the expiry.
  const expired = new Map<number, bigint>();
  for (const { amount_nanos, granted_at, expired_grant } of entries)
    if (expired_grant !== undefined && granted_at < atMs) expired.set(expired_grant, (expired.get(expired_grant) ?? 0n) - amount_nanos);

  const left = new Map<number, bigint>();
  const grants = inOrderOfUse(entries.filter(isGrant));
  let debt = 0n;
  for (const dayMs of [...use.keys()].filter((ms) => ms < atMs).sort((a, b) => a - b)) {
    debt += use.get(dayMs) ?? 0n;
    for (const { number, amount_nanos, granted_at, expires_at = Number.POSITIVE_INFINITY } of grants) {
      if (granted_at >= dayMs + DAY_MS || expires_at <= dayMs) continue;
      const rest = left.get(number) ?? amount_nanos - (expired.get(number) ?? 0n);
      const used = debt <= 0n ? 0n : debt < rest ? debt : rest;
      left.set(number, rest - used);
      debt -= used;
    }
  }
  return left;
};
