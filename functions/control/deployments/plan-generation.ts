import type { AdapterSupport } from '../../../shared/deployments/adapter.ts';
import type { InstanceType } from '../../../shared/deployments/catalogue.ts';
import type { CatalogueStore } from '../../../shared/deployments/catalogue-store.ts';
import type { Generation } from '../../../shared/deployments/deployment.ts';
import { Forbidden, InvalidValue } from '../../../shared/http/errors.ts';
import { instancePriceAt } from '../../../shared/prices/instance-price.ts';
import { type Actor, can } from '../access/actor.ts';
import { imageUri } from '../runtimes/image-uri.ts';
import { TENSOR_PARALLEL_SIZE } from './environment.ts';
import { InstanceTypeNotPriced } from './errors.ts';
import { type ModelSources, modelLocation } from './model-location.ts';
import type { NewDeployment } from './new-deployment.ts';

/** The fields of a request that make a new generation. */
export type GenerationFields = Pick<
  NewDeployment,
  'runtime' | 'model' | 'instance_types' | 'accelerators' | 'environment' | 'allow_code'
> & {
  /** null: none. */
  adapters?: AdapterSupport | null | undefined;
};

export interface PlanDependencies {
  catalogue: CatalogueStore;
  modelSources: ModelSources;
  region: string;
}

/** The content of a generation, before it has a number. */
export type PlannedGeneration = Pick<
  Generation,
  'runtime' | 'model' | 'allows_code' | 'instance_types' | 'accelerators' | 'environment' | 'adapters'
>;

const runtimeOf = async ({ catalogue, region }: PlanDependencies, id: string): Promise<Generation['runtime']> => {
  const runtime = await catalogue.runtimes.get(id);
  if (runtime?.status !== 'available')
    throw new InvalidValue('runtime', `there is no runtime '${id}'. GET /v1/runtimes lists the available ones`);
  const { image, ami, dialect } = runtime;
  return { id, image: imageUri(image, region), ...(ami !== undefined && { ami }), dialect };
};

// In the order of the request.
const instanceTypesOf = async (
  { catalogue }: Pick<PlanDependencies, 'catalogue'>,
  { instance_types, accelerators }: Pick<GenerationFields, 'instance_types' | 'accelerators'>,
  nowMs: number,
): Promise<InstanceType[]> => {
  const types = new Map((await catalogue.instanceTypes.list()).map((type) => [type.id, type]));
  return instance_types.map((id, i) => {
    const param = `instance_types[${i}]`;
    const type = types.get(id);
    if (type?.status !== 'available')
      throw new InvalidValue(param, `there is no instance type '${id}'. GET /v1/instance-types lists the available ones`);
    if (type.accelerators < accelerators)
      throw new InvalidValue(
        param,
        `expected instance types with at least ${accelerators} accelerators, as a copy needs; '${id}' has ${type.accelerators}`,
      );
    if (!instancePriceAt(type.prices, nowMs)) throw new InstanceTypeNotPriced(id);
    return type;
  });
};

// vLLM uses one accelerator unless it is told to use more.
const environmentOf = ({ environment, accelerators }: GenerationFields, runtime: Generation['runtime']): Record<string, string> => {
  const { [TENSOR_PARALLEL_SIZE]: parallel } = environment;
  if (parallel !== undefined && Number(parallel) > accelerators)
    throw new InvalidValue(`environment.${TENSOR_PARALLEL_SIZE}`, `expected at most the accelerators of a copy (${accelerators})`);
  return accelerators > 1 && parallel === undefined && runtime.dialect === 'vllm'
    ? { ...environment, [TENSOR_PARALLEL_SIZE]: String(accelerators) }
    : environment;
};

/**
 * Resolves the content of a generation: the runtime with its image, the location of the model, and the instance types,
 * in their order.
 * @throws 400, 403 if someone other than an admin allows code, 409 for an instance type without a price
 */
export const planGeneration = async (
  deps: PlanDependencies,
  actor: Actor,
  organization: string,
  fields: GenerationFields,
): Promise<{ generation: PlannedGeneration; types: InstanceType[] }> => {
  const { model, instance_types, accelerators, allow_code: allows_code, adapters } = fields;
  if (allows_code && !can(actor, 'catalogue:write'))
    throw new Forbidden({
      param: 'allow_code',
      message: "Allowing code in the files of a model requires the permission 'catalogue:write'. Ask an admin, or remove the code.",
    });
  const runtime = await runtimeOf(deps, fields.runtime);
  const types = await instanceTypesOf(deps, fields, actor.origin.nowMs);
  const location = modelLocation(deps.modelSources, organization, model);
  const environment = environmentOf(fields, runtime);
  if (adapters && runtime.dialect !== 'vllm')
    throw new InvalidValue(
      'adapters',
      "expected a runtime with the dialect 'vllm', which loads adapters. GET /v1/runtimes shows the dialects",
    );
  const content = { runtime, model: location, allows_code, instance_types, accelerators, environment };
  return { generation: { ...content, ...(adapters && { adapters }) }, types };
};
