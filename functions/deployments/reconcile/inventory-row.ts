import type { Adapter } from '../../../shared/deployments/adapter.ts';
import type { Deployment } from '../../../shared/deployments/deployment.ts';
import { adapterNameOf, awsNameOf } from '../../../shared/deployments/names.ts';
import { openShadow } from '../../../shared/deployments/shadow.ts';
import { SERVING } from '../../../shared/deployments/state.ts';
import { idLike } from '../../../shared/ids/id.ts';
import type { Model, ModelShadow, Target } from '../../../shared/models/model.ts';
import { type Price, priceAt } from '../../../shared/prices/price.ts';
import { isServingShadow } from './follow-shadow.ts';
import { trafficOf } from './generations.ts';

const MS_PER_SECOND = 1_000;

const targetOf = (installation: string, { id, name }: Deployment, number: number, weight: number): Target => {
  const awsName = awsNameOf(installation, id, number);
  return { endpoint: awsName, component: awsName, container_model: name, weight };
};

// Before the first generation is ready, requests go to the oldest one.
const targetsOf = (installation: string, deployment: Deployment): [Target, ...Target[]] => {
  const [first = { generation: deployment.generations[0], percent: 1 }, ...others] = trafficOf(deployment);
  const target = ({ generation, percent }: typeof first): Target => targetOf(installation, deployment, generation?.number ?? 1, percent);
  return [target(first), ...others.map(target)];
};

/** The rows of adapters depend on more than their deployment. */
export interface AdapterFacts {
  /** The generations that have loaded an adapter and get requests, with their shares. */
  trafficOf: (adapterId: string) => ReturnType<typeof trafficOf>;
  /** The surcharges on the tokens of all adapters. */
  surcharges: readonly Price[];
}

// The price of a deployment or an adapter, in effect since its creation.
const freePrice = ({ id, created_at }: Pick<Adapter, 'id' | 'created_at'>): Price => ({
  version: idLike('price', id),
  effective_at: created_at,
  prompt_nanos: 0,
  completion_nanos: 0,
});

// A surcharge that is in force at the creation applies from the beginning. Without one, the tokens are free until the
// next one takes effect. So each of the prices applies at some time.
const adapterPricesOf = (adapter: Adapter, surcharges: readonly Price[]): Price[] => {
  const { created_at } = adapter;
  const first = priceAt(surcharges, created_at) ?? freePrice(adapter);
  return [first, ...surcharges.filter(({ effective_at }) => effective_at > created_at)];
};

/**
 * The inventory's row of an adapter, in the pool of its deployment's organization: its deployment is woken by it and
 * counts its requests. Only SageMaker's name of the adapter is sent to the container.
 */
export const adapterModelOf = (
  installation: string,
  deployment: Deployment,
  adapter: Adapter,
  { trafficOf: trafficOfAdapter, surcharges }: AdapterFacts,
): Omit<Model, 'version'> => {
  const { id, name, created_at } = adapter;
  const base = modelOf(installation, deployment);
  const loaded = trafficOfAdapter(id);
  const [first = { generation: deployment.generations[0], percent: 1 }, ...others] = loaded;
  const target = ({ generation, percent }: typeof first): Target => {
    const endpoint = awsNameOf(installation, deployment.id, generation?.number ?? 1);
    const component = adapterNameOf(endpoint, id);
    return { endpoint, component, container_model: component, weight: percent };
  };
  return {
    ...base,
    name,
    created: Math.floor(created_at / MS_PER_SECOND),
    targets: [target(first), ...others.map(target)],
    deployment: { id: deployment.id, is_ready: base.deployment?.is_ready === true && loaded.length > 0 },
    prices: adapterPricesOf(adapter, surcharges),
  };
};

/** A deployment's targets for requests, and whether a copy is ready. */
export const routingOf = (installation: string, deployment: Deployment): Pick<Model, 'targets' | 'deployment'> => ({
  targets: targetsOf(installation, deployment),
  deployment: { id: deployment.id, is_ready: SERVING.includes(deployment.state) && deployment.progress.ready > 0 },
});

// While it is asleep, nothing is sent, and nothing wakes it.
const shadowOf = (installation: string, deployment: Deployment): ModelShadow | undefined => {
  const open = openShadow(deployment);
  const { dialect } = deployment.generations.find(({ number }) => number === open?.generation)?.runtime ?? {};
  if (open?.started_at === undefined || !dialect || !isServingShadow(deployment)) return undefined;
  const { number, generation, percent, max_requests, max_tokens, max_seconds, started_at } = open;
  const target = targetOf(installation, deployment, generation, 1);
  return { number, target, dialect, percent, max_requests, max_tokens, ends_at: started_at + max_seconds * MS_PER_SECOND };
};

/**
 * The inventory's row of a deployment, in its organization's pool. Its tokens are free, because its GPU time is
 * charged.
 */
export const modelOf = (installation: string, deployment: Deployment): Omit<Model, 'version'> => {
  const { name, created_at, serving, generations } = deployment;
  const routing = routingOf(installation, deployment);
  const shadow = shadowOf(installation, deployment);
  const dialect = trafficOf(deployment)[0]?.generation.runtime.dialect ?? generations[0]?.runtime.dialect ?? 'vllm';
  return {
    name,
    status: 'published',
    created: Math.floor(created_at / MS_PER_SECOND),
    dialect,
    ...serving,
    // Its organization's aliases can have some.
    fallbacks: [],
    ...routing,
    ...(routing.deployment && shadow && { deployment: { ...routing.deployment, shadow } }),
    prices: [freePrice(deployment)],
  };
};
