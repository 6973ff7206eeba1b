import type { Detail, OrganizationTotals } from '../../../shared/usage/organization-totals.ts';

/** Usage of a span, by its dimensions. Null: it has none. */
export interface UsageRecord {
  startMs: number;
  by: Readonly<Record<UsageDimension, string | null>>;
  sums: UsageSums;
}

const DIMENSIONS = [
  'organization',
  'project_id',
  'api_key_id',
  'user_id',
  'model',
  'route',
  'deployment',
  'alias',
  'side',
  'line_item',
] as const;
export type UsageDimension = (typeof DIMENSIONS)[number];

/** `quantity` is in `unit`; usage of different units has none. */
export interface UsageSums {
  requests: number;
  promptTokens: bigint;
  cachedTokens: bigint;
  completionTokens: bigint;
  costNanos: bigint;
  quantity: bigint;
  unit: 'tokens' | 'duration_seconds' | null;
}

// The line item of requests whose function crashed before the model was known.
const NO_MODEL = 'Unknown model';

/** Returns the dimensions of totals. */
export const namesOf = ({
  organization,
  model,
  route,
  deployment,
  keyId,
  projectId,
  userId,
  split,
}: Omit<OrganizationTotals, 'totals'>): UsageRecord['by'] => ({
  organization,
  model,
  route,
  deployment,
  project_id: projectId ?? null,
  api_key_id: keyId ?? null,
  user_id: userId ?? null,
  alias: split?.alias ?? null,
  side: split?.side ?? null,
  line_item: model ?? NO_MODEL,
});

export const usageOf = ({ totals, ...of }: OrganizationTotals): UsageRecord => ({
  startMs: of.startMs,
  by: namesOf(of),
  sums: {
    requests: totals.requests,
    promptTokens: totals.prompt_tokens,
    cachedTokens: totals.cached_tokens,
    completionTokens: totals.completion_tokens,
    costNanos: totals.cost_nanos,
    quantity: totals.prompt_tokens + totals.completion_tokens,
    unit: 'tokens',
  },
});

const sumOf = (a: UsageSums, b: UsageSums): UsageSums => ({
  requests: a.requests + b.requests,
  promptTokens: a.promptTokens + b.promptTokens,
  cachedTokens: a.cachedTokens + b.cachedTokens,
  completionTokens: a.completionTokens + b.completionTokens,
  costNanos: a.costNanos + b.costNanos,
  quantity: a.quantity + b.quantity,
  unit: a.unit === b.unit ? a.unit : null,
});

/** Only usage with one of these values passes. */
export type Filters = Partial<Record<UsageDimension, ReadonlySet<string>>>;

export const matches = (filters: Filters, { by }: Pick<UsageRecord, 'by'>): boolean =>
  Object.entries(filters).every(([dimension, values]) => values.has(by[dimension as UsageDimension] ?? ''));

/** Returns true if a filter has no values, so that nothing matches. */
export const isNone = (filters: Filters): boolean => Object.values(filters).some((values) => values.size === 0);

/** Returns the detail with the fewest rows that has every dimension of the groups and filters. */
export const detailOf = (groupBy: readonly string[], filters: Filters): Detail => {
  const names = new Set<string>([...groupBy, ...Object.keys(filters)]);
  if (names.has('user_id')) return 'user';
  return names.has('api_key_id') || names.has('project_id') ? 'key' : 'model';
};

/** Sums of a group: `by` has the dimensions that were grouped by. */
export interface UsageGroup {
  by: Partial<Record<UsageDimension, string | null>>;
  sums: UsageSums;
}

/** Adds up usage by some dimensions. */
export const createGroups = (dimensions: readonly UsageDimension[]) => {
  const groups = new Map<string, UsageGroup>();
  return {
    add: ({ by, sums }: UsageRecord): void => {
      const id = JSON.stringify(dimensions.map((dimension) => by[dimension]));
      const group = groups.get(id);
      if (group) group.sums = sumOf(group.sums, sums);
      else groups.set(id, { by: Object.fromEntries(dimensions.map((dimension) => [dimension, by[dimension]])), sums });
    },
    /** The groups in an order that depends only on their content. */
    list: (): UsageGroup[] => [...groups.entries()].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, group]) => group),
  };
};
