import * as z from 'zod';
import { UnixSeconds } from '../../lists/unix-seconds.ts';
import { OrganizationId } from '../../organizations/organization.ts';
import { listOf } from '../../query/usage-query.ts';

/** Lengths of a point, finest first. */
export const RESOLUTIONS = ['1m', '10m', '1h', '1d'] as const;
export type Resolution = (typeof RESOLUTIONS)[number];

export const MetricsQuery = z.strictObject({
  start_time: UnixSeconds.optional().meta({
    description: 'The start of the window (Unix seconds), inclusive. Default: an hour before its end.',
  }),
  end_time: UnixSeconds.optional().meta({ description: 'The end of the window (Unix seconds), exclusive. Default: now.' }),
  resolution: z.enum(RESOLUTIONS).optional().meta({
    description:
      'What a point covers. Default: the finest with at most 400 points. Minutes exist for 7 days, ten minutes and hours for 90, days for good.',
  }),
  group_by: z
    .array(z.enum(['organization', 'project_id', 'api_key_id', 'user_id', 'model', 'route', 'deployment', 'alias', 'side']))
    .default([])
    .meta({
      description:
        'What to make series by. Without it, there is one series. `alias` and `side` are those of requests to an alias with a split: `base`, or `new` for the model of the split.',
    }),
  api_key_ids: listOf('Only requests with these API keys. Members see only the keys that they created.'),
  project_ids: listOf('Only requests with API keys that were in these projects at that time.'),
  user_ids: listOf('Only requests of these end users (`X-User-Id`, or the `user` of a request).'),
  models: listOf('Only requests to these models.'),
  routes: listOf('Only requests to these routes.'),
  deployments: listOf('Only requests that deployments with these ids served.'),
  organization: OrganizationId.optional().meta({
    description: 'The organization whose metrics to return. Defaults to your own; for admins, to all organizations together.',
  }),
});
export type MetricsQuery = z.output<typeof MetricsQuery>;
