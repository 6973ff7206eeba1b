import { permissionId } from '../../support/emulators/used-permissions.ts';
import type { GrantedRole } from './grants.ts';

/** The suites that used each permission, by its id. */
export type Uses = ReadonlyMap<string, ReadonlySet<string>>;

/** The suite that the page of permissions names for each permission, by its id. */
export type Named = ReadonlyMap<string, string>;

/** The permissions of all roles, with their ids. */
export const permissionsOf = (roles: readonly GrantedRole[]) =>
  roles.flatMap(({ title, granted }) => granted.map((each) => ({ ...each, id: permissionId({ role: title, ...each }) })));

/** The permissions that no suite used and that have no reason to be unused. */
export const unexplained = (roles: readonly GrantedRole[], uses: Uses): string[] =>
  permissionsOf(roles)
    .filter(({ id, reason }) => reason === undefined && !uses.has(id))
    .map(({ id }) => id);

/** The permissions for which the page names a suite that did not use them. */
export const wronglyNamed = (named: Named, uses: Uses): string[] =>
  [...named].filter(([id, suite]) => !uses.get(id)?.has(suite)).map(([id, suite]) => `${id}: ${suite}`);

/**
 * A suite for each permission, out of what several runs recorded. It uses the permission in every run that it is part
 * of, because what a function does in the background can differ. It stays the same suite as long as it can, and is
 * otherwise the one that most runs have.
 */
export const chooseSuites = (runs: readonly Uses[], named: Named): Map<string, string> => {
  const partsOf = runs.map((uses) => new Set([...uses.values()].flatMap((suites) => [...suites])));
  const ids = new Set(runs.flatMap((uses) => [...uses.keys()]));
  const chosen = new Map<string, string>();
  for (const id of ids) {
    const counts = new Map<string, number>();
    for (const uses of runs) for (const suite of uses.get(id) ?? []) counts.set(suite, (counts.get(suite) ?? 0) + 1);
    const always = [...counts].filter(([suite, count]) => count === partsOf.filter((parts) => parts.has(suite)).length);
    const [first] = always.sort(([a, most], [b, other]) => other - most || (a < b ? -1 : 1)).map(([suite]) => suite);
    const suite = always.find(([each]) => each === named.get(id))?.[0] ?? first;
    if (suite !== undefined) chosen.set(id, suite);
  }
  return chosen;
};
