import * as z from 'zod';
import { versionOfAlias } from '../../../shared/models/alias-store.ts';
import { ModelFallbacks, ModelName } from '../../../shared/models/model.ts';
import { ModelAlias } from '../../../shared/models/model-alias.ts';
import { type ModelSplit, splitFields } from '../../../shared/models/split.ts';
import { ServedName } from '../model-registry/registration.ts';
import { OrganizationId } from '../organizations/organization.ts';

/** The parameters of a path with an alias. */
export const AliasParameters = z.object({ alias: ServedName });

const NewSplit = z.strictObject({
  ...splitFields,
  restart: z.boolean().default(false).meta({
    description: 'Starts a split again that has stopped. Without it, only a split with other values starts again.',
  }),
});
export type NewSplit = z.output<typeof NewSplit>;

/** The body that sets an alias. */
export const NewModelAlias = z.strictObject({
  model: ModelName.meta({ description: 'The name of the model that answers: not another alias.', examples: ['qwen3-8b'] }),
  fallbacks: ModelFallbacks.refine((names) => new Set(names).size === names.length, 'expected every model once')
    .default([])
    .meta({
      description:
        'The models that answer while that one fails, has no capacity or sleeps, in the order in which they are tried. On the on-demand host they can be deployments and shared models. Default: those of the model.',
    }),
  split: NewSplit.optional().meta({ description: 'Lets another model answer a part of the callers. Default: none.' }),
  organization: OrganizationId.optional().meta({
    description: 'The organization whose API keys can use it. Default: your own; for admins, all organizations, on the serverless host.',
  }),
});
export type NewModelAlias = z.output<typeof NewModelAlias>;

const AliasSplit = z
  .object({
    ...splitFields,
    max_error_percent: z.int().nullable().meta({
      description: 'If a higher percentage of the newest requests of the new side fails, the split stops; null: it never stops by itself.',
    }),
    started_at: z.int().meta({ description: 'When it was set, or started again (Unix seconds).' }),
    stopped_at: z.int().nullable().meta({
      description:
        'When it stopped because of errors (Unix seconds). Since then, the model of the alias answers all callers; null: it runs.',
    }),
    stopped_by: z
      .object({ requests: z.int(), failed_requests: z.int() })
      .nullable()
      .meta({ description: 'The newest requests of the new side when it stopped, and how many of them had failed; null: it runs.' }),
  })
  .nullable()
  .meta({ description: 'The other model that answers a part of the callers; null: there is none.' });

export const ModelAliasResource = z.object({
  object: z.literal('model_alias'),
  alias: ModelAlias.shape.alias,
  model: ModelAlias.shape.model,
  fallbacks: z.array(z.string()).meta({
    description: 'The models that answer while that one fails, in the order in which they are tried. Empty: those of the model.',
  }),
  split: AliasSplit,
  organization: z.string().nullable().meta({ description: 'The organization whose API keys can use it; null: all.' }),
  version: z.int().meta({ description: 'Incremented by every change, also when its split stops. The ETag is derived from it.' }),
});
export type ModelAliasResource = z.infer<typeof ModelAliasResource>;

const toSplit = ({ model, percent, max_error_percent, min_requests, started_at, stopped_at, stopped_by }: ModelSplit) => ({
  model,
  percent,
  max_error_percent: max_error_percent ?? null,
  min_requests,
  started_at,
  stopped_at: stopped_at ?? null,
  stopped_by: stopped_by ?? null,
});

/** An alias without its owner, as callers see it. */
export const aliasFieldsOf = ({ model, fallbacks, split }: Pick<ModelAlias, 'model' | 'fallbacks' | 'split'>) => ({
  model,
  fallbacks,
  split: split ? toSplit(split) : null,
});

export const toAliasResource = (organization: string | null, alias: ModelAlias): ModelAliasResource => ({
  object: 'model_alias',
  alias: alias.alias,
  ...aliasFieldsOf(alias),
  organization,
  version: versionOfAlias(alias),
});
