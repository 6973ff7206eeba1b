import * as z from 'zod';
import type { Rerate, RerateProgress, RerateSums, RerateTotals } from '../../../../shared/billing/rerate.ts';
import { ModelName } from '../../../../shared/models/model.ts';
import { dollarsOf } from '../../../../shared/prices/dollars.ts';
import { unixSeconds } from '../../../../shared/time/units.ts';

const Seconds = z.int().min(0).max(99_999_999_999);
const Version = z.string().min(1).max(40);
const MAX_ID = 64;

/** The body that creates a rerate. */
export const NewRerate = z
  .strictObject({
    model: ModelName.optional().meta({ description: 'The model whose requests are rated again.' }),
    instance_type: z.string().min(1).max(MAX_ID).optional().meta({ description: 'The instance type whose GPU time is rated again.' }),
    from_version: Version.meta({ description: 'Usage that is rated by this price version is rated again.' }),
    to_version: Version.meta({ description: 'The price version by which it is rated instead.' }),
    start_time: Seconds.meta({ description: 'The first second in which requests arrived or GPU time began. Unix time in seconds.' }),
    end_time: Seconds.meta({
      description: 'The end of the usage, exclusive: at least an hour ago, so that all of its requests have ended. Unix time in seconds.',
    }),
    organization: z.string().min(1).max(MAX_ID).optional().meta({
      description: 'Only the usage of this organization, whose own model it can be. Default: all organizations, and a shared model.',
    }),
    reason: z.string().trim().min(1).max(500).meta({ description: 'Recorded in the audit logs.' }),
    dry_run: z
      .boolean()
      .default(false)
      .meta({ description: 'Only computes what would change. Execute the rerate later with `POST /v1/billing/rerates/{id}/execute`.' }),
  })
  .refine(({ model, instance_type }) => (model === undefined) !== (instance_type === undefined), {
    path: ['model'],
    message: "expected either 'model' or 'instance_type'",
  })
  .refine(({ from_version, to_version }) => from_version !== to_version, {
    path: ['to_version'],
    message: "expected another version than 'from_version'",
  })
  .refine(({ start_time, end_time }) => start_time < end_time, { path: ['end_time'], message: "expected a time after 'start_time'" });
export type NewRerate = z.output<typeof NewRerate>;

const dollars = (description: string) => z.string().meta({ description: `${description} In dollars.` });

const Sums = z.object({
  events: z.int().meta({ description: 'The number of requests, or of events of GPU time.' }),
  old_cost: dollars('What they cost before.'),
  new_cost: dollars('What they cost afterwards.'),
  difference: dollars('The new cost minus the old cost.'),
});

const Phase = Sums.extend({
  organizations: z.int().nullable().meta({ description: 'In how many organizations it takes place; null: they are being counted.' }),
  organizations_done: z.int(),
}).nullable();

export const RerateResource = z.object({
  object: z.literal('rerate'),
  id: z.string(),
  state: z.enum(['previewing', 'previewed', 'executing', 'completed']),
  model: z.string().nullable(),
  instance_type: z.string().nullable(),
  from_version: z.string(),
  to_version: z.string(),
  start_time: z.int(),
  end_time: z.int(),
  organization: z.string().nullable(),
  reason: z.string(),
  created_at: z.int(),
  executed_at: z.int().nullable(),
  preview: Phase.meta({ description: 'What an execution would change, as far as it is computed. Null without a preview.' }),
  execution: Phase.meta({ description: 'What was changed so far. Null before the execution.' }),
});
export type RerateResource = z.infer<typeof RerateResource>;

/** The effect of a rerate on an organization. */
export const RerateOfOrganization = z.object({
  object: z.literal('rerate.organization'),
  organization: z.string(),
  is_done: z.boolean(),
  months: z.array(Sums.extend({ month: z.string().meta({ description: 'A UTC month of the usage, such as `2026-10`.' }) })),
});

const sumsToWire = ({ events, old_nanos, new_nanos }: RerateSums): z.infer<typeof Sums> => ({
  events,
  old_cost: dollarsOf(old_nanos),
  new_cost: dollarsOf(new_nanos),
  difference: dollarsOf(new_nanos - old_nanos),
});

/** The progress of a phase. */
export interface PhaseFacts {
  /** Undefined while they are being counted. */
  organizations: number | undefined;
  totals: RerateTotals;
}

const phaseToWire = ({ organizations, totals }: PhaseFacts): NonNullable<z.infer<typeof Phase>> => ({
  organizations: organizations ?? null,
  organizations_done: totals.done,
  ...sumsToWire(totals),
});

/** A phase is complete when all of its organizations are done. */
export const isComplete = ({ organizations, totals }: PhaseFacts): boolean => organizations !== undefined && totals.done >= organizations;

/** Converts a rerate to the wire. @param execution absent: it was only previewed */
export const toResource = (rerate: Rerate, preview: PhaseFacts, execution: PhaseFacts | undefined): RerateResource => {
  const { subject } = rerate;
  const hasPreview = rerate.phase === 'preview' || preview.totals.begun > 0;
  return {
    object: 'rerate',
    id: rerate.id,
    state: execution ? (isComplete(execution) ? 'completed' : 'executing') : isComplete(preview) ? 'previewed' : 'previewing',
    model: subject.kind === 'model' ? subject.name : null,
    instance_type: subject.kind === 'instance_type' ? subject.name : null,
    from_version: subject.from.version,
    to_version: subject.to.version,
    start_time: unixSeconds(rerate.start_time),
    end_time: unixSeconds(rerate.end_time),
    organization: rerate.organization,
    reason: rerate.reason,
    created_at: unixSeconds(rerate.created_at),
    executed_at: rerate.executed_at === null ? null : unixSeconds(rerate.executed_at),
    preview: hasPreview ? phaseToWire(preview) : null,
    execution: execution ? phaseToWire(execution) : null,
  };
};

/** Converts an organization's progress to the wire, with its months in their order. */
export const progressToWire = ({ organization, is_done, months }: RerateProgress): z.infer<typeof RerateOfOrganization> => ({
  object: 'rerate.organization',
  organization,
  is_done,
  months: Object.entries(months)
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .map(([month, sums]) => ({ month, ...sumsToWire(sums) })),
});
