import type { Deployment } from '../../../shared/deployments/deployment.ts';
import { awsNameOf } from '../../../shared/deployments/names.ts';
import { SERVING } from '../../../shared/deployments/state.ts';
import { idLike } from '../../../shared/ids/id.ts';
import type { Model, Target } from '../../../shared/models/model.ts';
import { trafficOf } from './generations.ts';

const MS_PER_SECOND = 1_000;

// Before the first generation is ready, requests go to the oldest one.
const targetsOf = (installation: string, deployment: Deployment): [Target, ...Target[]] => {
  const [first = { generation: deployment.generations[0], percent: 1 }, ...others] = trafficOf(deployment);
  const target = ({ generation, percent }: typeof first): Target => {
    const name = awsNameOf(installation, deployment.id, generation?.number ?? 1);
    return { endpoint: name, component: name, container_model: deployment.name, weight: percent };
  };
  return [target(first), ...others.map(target)];
};

/** A deployment's targets for requests, and whether a copy is ready. */
export const routingOf = (installation: string, deployment: Deployment): Pick<Model, 'targets' | 'deployment'> => ({
  targets: targetsOf(installation, deployment),
  deployment: { id: deployment.id, is_ready: SERVING.includes(deployment.state) && deployment.progress.ready > 0 },
});

/**
 * The inventory's row of a deployment, in its organization's pool. Its tokens are free, because its GPU time is
 * charged.
 */
export const modelOf = (installation: string, deployment: Deployment): Omit<Model, 'version'> => {
  const { id, name, created_at, serving, generations } = deployment;
  const dialect = trafficOf(deployment)[0]?.generation.runtime.dialect ?? generations[0]?.runtime.dialect ?? 'vllm';
  return {
    name,
    status: 'published',
    created: Math.floor(created_at / MS_PER_SECOND),
    dialect,
    ...serving,
    // Its organization's aliases can have some.
    fallbacks: [],
    ...routingOf(installation, deployment),
    prices: [{ version: idLike('price', id), effective_at: created_at, prompt_nanos: 0, completion_nanos: 0 }],
  };
};
