import * as z from 'zod';
import { type Adapter, AdapterState } from '../../../shared/deployments/adapter.ts';
import type { Deployment } from '../../../shared/deployments/deployment.ts';
import { type Price, priceAt } from '../../../shared/prices/price.ts';
import { figuresOf, PriceFigures } from '../../../shared/prices/price-version.ts';
import { unixSeconds } from '../../../shared/time/units.ts';
import type { UserRole } from '../access/actor.ts';
import { ReasonResource, reasonOf } from '../deployments/deployment-resource.ts';
import { ServedName } from '../model-registry/registration.ts';

const SOURCE =
  "The folder with `adapter_config.json` and `adapter_model.safetensors`, as PEFT saves them, in your organization's part of the weights bucket.";

/** An adapter to add. */
export const NewAdapter = z.strictObject({
  name: ServedName.meta({
    description: 'The `model` of requests. No deployment and no other adapter of your organization can have it.',
    examples: ['legal'],
  }),
  source: z
    .string()
    .min(3)
    .max(1_024)
    .meta({ description: SOURCE, examples: ['s3://sluice-weights/org_VbdBUPc4RtYvB8fK2m/legal-adapter/'] }),
});
export type NewAdapter = z.output<typeof NewAdapter>;

/** An adapter on the wire. */
export const AdapterResource = z.object({
  object: z.literal('adapter'),
  id: z.string(),
  deployment: z.string().meta({ description: 'The id of its deployment.' }),
  name: z.string().meta({ description: 'The `model` of requests.' }),
  source: z.string().meta({ description: SOURCE }),
  state: AdapterState.meta({
    description:
      '`pending`: its files are being checked and copied. `creating`: it is loaded as soon as its deployment runs. `ready`: answers requests, and wakes with its deployment. `deleting`: gets no requests any more. `failed`: see `reason`.',
  }),
  reason: ReasonResource.nullable().meta({ description: 'Why it failed.' }),
  rank: z.int().nullable().meta({ description: "Its highest rank; null: its files are not checked, or can't be used." }),
  bytes: z.int().nullable().meta({ description: 'The size of its copy, which is what is loaded.' }),
  surcharge: PriceFigures.nullable().meta({
    description: 'What its tokens cost now, on top of the GPU time of its deployment; null: nothing.',
  }),
  created_at: z.int().meta({ description: 'Unix time in seconds.' }),
  created_by: z.string(),
});
export type AdapterResource = z.infer<typeof AdapterResource>;

/** All adapters of a deployment. */
export const AdapterList = z.object({ object: z.literal('list'), data: z.array(AdapterResource) });

/** The reader of an adapter, the time, and the surcharges on the tokens of all adapters. */
export interface AdapterView {
  role: UserRole;
  surcharges: readonly Price[];
  nowMs: number;
}

const surchargeAt = (surcharges: readonly Price[], nowMs: number): PriceFigures | null => {
  const price = priceAt(surcharges, nowMs);
  return price ? figuresOf(price) : null;
};

/** Converts an adapter to the wire. */
export const toAdapterResource = (
  { id: deployment }: Pick<Deployment, 'id'>,
  { id, name, source, state, reason, packed, created_at, created_by }: Adapter,
  { role, surcharges, nowMs }: AdapterView,
): AdapterResource => ({
  object: 'adapter',
  id,
  deployment,
  name,
  source,
  state,
  reason: reasonOf(reason, role),
  rank: packed?.rank ?? null,
  bytes: packed?.bytes ?? null,
  surcharge: surchargeAt(surcharges, nowMs),
  created_at: unixSeconds(created_at),
  created_by,
});
