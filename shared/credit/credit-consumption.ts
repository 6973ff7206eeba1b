import { DAY_MS } from '../time/units.ts';
import { type Grant, isGrant } from './credit-store.ts';

const dayStartOf = (ms: number): number => ms - (ms % DAY_MS);

const inOrderOfUse = (grants: readonly Grant[]): Grant[] =>
  [...grants].sort(
    (a, b) => (a.expires_at ?? Number.POSITIVE_INFINITY) - (b.expires_at ?? Number.POSITIVE_INFINITY) || a.number - b.number,
  );

/**
 * The rest of each grant at the beginning of a UTC day. The costs paid from credit and the deductions of each earlier
 * day use up the grants valid on that day, those that expire first before others. Cost that exceeds them is charged to
 * the next grants.
 * @param entries the ledger of one organization
 * @param costByDay nano-dollars paid from credit, by UTC day such as `2026-11-21`
 * @param atMs a UTC midnight
 * @returns nano-dollars by the number of the grant, without grants made later
 */
export const remainingOfGrants = (entries: readonly Grant[], costByDay: ReadonlyMap<string, bigint>, atMs: number): Map<number, bigint> => {
  const use = new Map<number, bigint>();
  const add = (dayMs: number, nanos: bigint): void => void use.set(dayMs, (use.get(dayMs) ?? 0n) + nanos);
  for (const [day, nanos] of costByDay) add(Date.parse(day), nanos);
  for (const entry of entries)
    if (entry.expired_grant === undefined) add(dayStartOf(entry.granted_at), isGrant(entry) ? 0n : -entry.amount_nanos);

  // Expired credit can't pay for usage that is recorded later, even for a day before the expiry.
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
