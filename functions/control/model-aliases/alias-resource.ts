import * as z from 'zod';
import { ModelName } from '../../../shared/models/model.ts';
import { ModelAlias } from '../../../shared/models/model-alias.ts';
import { ServedName } from '../model-registry/registration.ts';
import { OrganizationId } from '../organizations/organization.ts';

/** The parameters of a path with an alias. */
export const AliasParameters = z.object({ alias: ServedName });

/** The body that sets an alias. */
export const NewModelAlias = z.strictObject({
  model: ModelName.meta({ description: 'The name of the model that answers: not another alias.', examples: ['qwen3-8b'] }),
  organization: OrganizationId.optional().meta({
    description: 'The organization whose API keys can use it. Default: your own; for admins, all organizations, on the serverless host.',
  }),
});
export type NewModelAlias = z.output<typeof NewModelAlias>;

export const ModelAliasResource = z.object({
  object: z.literal('model_alias'),
  ...ModelAlias.shape,
  organization: z.string().nullable().meta({ description: 'The organization whose API keys can use it; null: all.' }),
});
export type ModelAliasResource = z.infer<typeof ModelAliasResource>;

export const toAliasResource = (organization: string | null, { alias, model }: ModelAlias): ModelAliasResource => ({
  object: 'model_alias',
  alias,
  model,
  organization,
});
