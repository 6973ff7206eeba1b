import type { AuditEntry } from '../../../../shared/audit/audit-entry.ts';
import type { AuditStore } from '../../../../shared/audit/audit-store.ts';

/** A time in which a setting was on, in ms since the epoch; the end is exclusive. */
export interface Period {
  fromMs: number;
  toMs: number;
}

/** The times since when an organization's limiters count, by its audit log. */
export interface LimitingChanges {
  /** The organization's own, in ms since the epoch; undefined if the log doesn't say it. */
  organizationSinceMs: number | undefined;
  /** Those of its projects, by id: their first budgets. */
  projectsSinceMs: Map<string, number>;
  /** The keys that have ever been in a project, by its id. */
  keysOfProjects: Map<string, Set<string>>;
  /** The times in which a key had limits for each of its end users, by the key's id. */
  perUser: Map<string, Period[]>;
}

// From these changes on, the organization has a limiter, which counts.
const LIMITING_CHANGES = ['organization.limited', 'organization.suspended'];

const addPerUser = (periods: Period[], isLimited: boolean, atMs: number): Period[] => {
  const last = periods.at(-1);
  const isOn = last?.toMs === Number.POSITIVE_INFINITY;
  if (isLimited && !isOn) periods.push({ fromMs: atMs, toMs: Number.POSITIVE_INFINITY });
  if (!isLimited && last && isOn) last.toMs = atMs;
  return periods;
};

const hasAny = (budgets: unknown): boolean => Object.values(budgets ?? {}).some((budget) => budget !== null);

const addEntry = (changes: LimitingChanges, { action, at, target: { type, id }, changes: fields }: AuditEntry): void => {
  const { projectsSinceMs, keysOfProjects, perUser } = changes;
  if (LIMITING_CHANGES.includes(action)) changes.organizationSinceMs ??= at;
  if (type === 'project' && !projectsSinceMs.has(id) && hasAny(fields.budgets?.to)) projectsSinceMs.set(id, at);
  const project = fields.project_id?.to;
  if (typeof project === 'string') keysOfProjects.set(project, (keysOfProjects.get(project) ?? new Set()).add(id));
  if (fields.per_user) perUser.set(id, addPerUser(perUser.get(id) ?? [], (fields.per_user.to ?? null) !== null, at));
};

/** Reads an organization's audit log. */
export const readLimitingChanges = async (audit: AuditStore, organization: string): Promise<LimitingChanges> => {
  const changes: LimitingChanges = {
    organizationSinceMs: undefined,
    projectsSinceMs: new Map(),
    keysOfProjects: new Map(),
    perUser: new Map(),
  };
  for await (const entry of audit.listAll(organization)) addEntry(changes, entry);
  return changes;
};
