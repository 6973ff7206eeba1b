import * as z from 'zod';
import { InvalidValue } from '../../../shared/http/errors.ts';
import { UnixSeconds } from '../lists/unix-seconds.ts';
import { OrganizationId } from '../organizations/organization.ts';
import type { Filters, UsageDimension } from './group-usage.ts';
import type { UsageScope } from './scope.ts';
import { WIDTHS, type Width } from './time-buckets.ts';

const MAX_VALUES = 100;
const MAX_CHARACTERS = 256;

export const listOf = (description: string) =>
  z.array(z.string().min(1).max(MAX_CHARACTERS)).max(MAX_VALUES).optional().meta({ description });

const common = {
  start_time: UnixSeconds.meta({ description: 'The start of the time range (Unix seconds), inclusive.' }),
  end_time: UnixSeconds.optional().meta({ description: 'The end of the time range (Unix seconds), exclusive. Default: now.' }),
  api_key_ids: listOf('Only usage of these API keys. Members see only the keys that they created.'),
  models: listOf('Only usage of these models.'),
  deployments: listOf('Only usage of the deployments with these ids.'),
  project_ids: listOf('Only usage of API keys that were in these projects at that time.'),
  limit: z
    .string()
    .regex(/^\d{1,4}$/, 'expected an integer')
    .transform(Number)
    .pipe(z.int().min(1))
    .optional(),
  page: z.string().optional().meta({ description: 'The `next_page` of the previous page.' }),
  organization: OrganizationId.optional().meta({
    description: 'The organization whose usage to return. Defaults to your own; for admins, to all organizations.',
  }),
};

// Dimensions of OpenAI's API that Sluice does not have: accepted, and null in the results.
const ABSENT = ['batch', 'service_tier', 'api_source'] as const;

export const CompletionsQuery = z.strictObject({
  ...common,
  bucket_width: z.enum(WIDTHS).default('1d').meta({ description: 'Minutes exist for 7 days, hours for 90, days for good.' }),
  user_ids: listOf('Only usage of these end users (`X-User-Id`, or the `user` of a request).'),
  routes: listOf('Only usage of these routes.'),
  batch: z.enum(['true', 'false']).optional().meta({ description: 'Sluice has no batch requests: `true` matches nothing.' }),
  limit: common.limit.meta({
    description: 'The number of buckets on a page: 7 for `1d` (at most 31), 24 for `1h` (168), 60 for `1m` (1440).',
    type: 'integer',
  }),
  group_by: z
    .array(z.enum(['organization', 'project_id', 'api_key_id', 'user_id', 'model', 'route', 'deployment', ...ABSENT]))
    .default([])
    .meta({
      description: `What to group the results by. ${ABSENT.map((name) => `\`${name}\``).join(', ')} are accepted, but always null.`,
    }),
});
export type CompletionsQuery = z.output<typeof CompletionsQuery>;

export const CostsQuery = z.strictObject({
  ...common,
  bucket_width: z.enum(['1d']).default('1d').meta({ description: 'Costs exist by day.' }),
  line_items: listOf('Only these line items.'),
  limit: common.limit.meta({ description: 'The number of buckets on a page: 7 by default, at most 180.', type: 'integer' }),
  group_by: z
    .array(z.enum(['organization', 'line_item', 'api_key_id', 'user_id', 'model', 'deployment', 'project_id', 'api_source']))
    .default([])
    .meta({ description: 'What to group the results by. `api_source` is accepted, but always null.' }),
});
export type CostsQuery = z.output<typeof CostsQuery>;

export interface PageLimits {
  default: number;
  max: number;
}
export const USAGE_LIMITS: Readonly<Record<Width, PageLimits>> = {
  '1d': { default: 7, max: 31 },
  '1h': { default: 24, max: 168 },
  '1m': { default: 60, max: 1_440 },
};
export const COSTS_LIMITS: PageLimits = { default: 7, max: 180 };

/** Returns the number of buckets on a page. @throws 400 */
export const limitOf = ({ limit, bucket_width }: { limit?: number | undefined; bucket_width: Width }, limits: PageLimits): number => {
  if (limit !== undefined && limit > limits.max)
    throw new InvalidValue('limit', `with 'bucket_width' '${bucket_width}', expected at most ${limits.max}. Use 'next_page' to get more`);
  return limit ?? limits.default;
};

const isDimension = (name: string): name is UsageDimension => !(ABSENT as readonly string[]).includes(name);

/** Returns the dimensions to group by, without those that Sluice does not have. */
export const dimensionsOf = (groupBy: readonly string[]): UsageDimension[] => [...new Set(groupBy)].filter(isDimension);

type FilterParameters = Partial<
  Pick<CompletionsQuery, 'api_key_ids' | 'user_ids' | 'models' | 'deployments' | 'routes' | 'project_ids' | 'batch'> &
    Pick<CostsQuery, 'line_items'>
>;

/** Returns the filters of a query within what the actor can see. */
export const filtersOf = (query: FilterParameters, { ownKeys }: UsageScope): Filters => {
  const visible = ownKeys && query.api_key_ids ? query.api_key_ids.filter((id) => ownKeys.has(id)) : (query.api_key_ids ?? ownKeys);
  const isNothing = query.batch === 'true';
  return {
    ...(isNothing && { organization: new Set() }),
    ...(query.project_ids && { project_id: new Set(query.project_ids) }),
    ...(visible && { api_key_id: new Set(visible) }),
    ...(query.user_ids && { user_id: new Set(query.user_ids) }),
    ...(query.models && { model: new Set(query.models) }),
    ...(query.deployments && { deployment: new Set(query.deployments) }),
    ...(query.routes && { route: new Set(query.routes) }),
    ...(query.line_items && { line_item: new Set(query.line_items) }),
  };
};

/** Returns the facts that a page's cursor is bound to. */
export const boundOf = (route: string, { page: _, limit: __, ...query }: CompletionsQuery | CostsQuery, actor: { userId: string }) => ({
  route,
  user: actor.userId,
  ...query,
});
