import * as z from 'zod';
import type { Deployment } from '../../../shared/deployments/deployment.ts';
import { SERVING } from '../../../shared/deployments/state.ts';
import { InvalidValue } from '../../../shared/http/errors.ts';
import { MAX_PRICES, Model } from '../../../shared/models/model.ts';
import { type ModelStore, SERVERLESS_POOL } from '../../../shared/models/model-store.ts';
import { toRetirePrices } from '../../../shared/models/retire-prices.ts';
import { priceAt } from '../../../shared/prices/price.ts';
import { NewFigures, toPrice } from '../../../shared/prices/price-version.ts';
import { unixSeconds } from '../../../shared/time/units.ts';
import type { Actor } from '../access/actor.ts';
import type { CheckModel } from '../model-registry/check-targets.ts';
import { ChecksFailed } from '../model-registry/errors.ts';
import { checkRoom } from '../model-registry/register-model.ts';
import { AcceptFailedChecks, ServedName } from '../model-registry/registration.ts';
import { type ChangeDependencies, changeDeployment, type DeploymentAddress } from './change-deployment.ts';
import type { DeploymentResource } from './deployment-resource.ts';
import { WrongState } from './errors.ts';
import { visibleDeployment } from './find-deployment.ts';

/** The options of a publication. */
export const Publication = z.strictObject({
  name: ServedName.meta({
    description: 'The name of the shared model: the `model` of requests on the serverless host.',
    examples: ['qwen3-8b'],
  }),
  prices: z
    .array(NewFigures)
    .min(1)
    .max(MAX_PRICES)
    .meta({ description: 'What callers pay for tokens. At least one price must already be in effect.' }),
  accept_failed_checks: AcceptFailedChecks,
});
export type Publication = z.output<typeof Publication>;

export interface PublishDependencies extends ChangeDependencies {
  models: ModelStore;
  checkModel: CheckModel;
}

const notInService = ({ state }: Deployment): WrongState =>
  new WrongState(
    'deployment_not_ready',
    `Only a deployment that is in service can be published; the state of this one is ${state}. Try again once it is in_service. A request wakes a deployment that sleeps.`,
  );

// The shared model has the targets of the deployment's own model; the function `deployments` updates both.
const sharedModel = async (
  { models }: PublishDependencies,
  read: Deployment,
  { name: publicName, prices }: Publication,
  nowMs: number,
): Promise<Model> => {
  const { organization, name, serving, state } = read;
  const own = SERVING.includes(state) ? await models.get(organization, name) : undefined;
  if (!own?.deployment) throw notInService(read);
  const { dialect, targets, deployment } = own;
  return Model.parse({
    ...serving,
    name: publicName,
    status: 'published',
    created: unixSeconds(nowMs),
    dialect,
    targets,
    // A comparison is of the organization's own requests.
    deployment: { id: deployment.id, is_ready: deployment.is_ready },
    prices: prices.map((each) => toPrice(each, nowMs)),
    version: 1,
  });
};

/**
 * Publishes a deployment as a shared model, which callers of the serverless host pay by the token. Its organization
 * goes on paying for its GPU time.
 * @throws 400, 404, 409 if it is not in service, is published, or the name is in use or a check fails, 412, 503
 */
export const publishDeployment = async (
  deps: PublishDependencies,
  actor: Actor,
  { id, expected }: DeploymentAddress,
  body: Publication,
): Promise<DeploymentResource> => {
  const { nowMs } = actor.origin;
  const deployment = await visibleDeployment(deps, actor, id);
  const checkUnpublished = ({ published_as: published }: Deployment): void => {
    if (published !== undefined)
      throw new WrongState('deployment_published', `The deployment already serves the shared model '${published}'. Unpublish it first.`);
  };
  checkUnpublished(deployment);
  const model = await sharedModel(deps, deployment, body, nowMs);
  if (!priceAt(model.prices, nowMs)) throw new InvalidValue('prices', 'expected at least one price that is already in effect');
  await checkRoom(deps, SERVERLESS_POOL, model.name);
  const report = await deps.checkModel(model);
  if (!report.passed && !body.accept_failed_checks) throw new ChecksFailed(report);
  return changeDeployment(
    deps,
    actor,
    { id, expected },
    {
      action: 'deployment.published',
      apply: (before) => {
        checkUnpublished(before);
        if (before.wanted !== 'running') throw notInService(before);
        return { ...before, published_as: model.name };
      },
      writes: () => [deps.models.toCreate(SERVERLESS_POOL, model)],
    },
  );
};

/**
 * Withdraws a shared model. Its prices are kept, because usage refers to them. Does nothing if it is not published.
 * @throws 404, 409 for a deleted deployment, 412
 */
export const unpublishDeployment = (deps: PublishDependencies, actor: Actor, address: DeploymentAddress): Promise<DeploymentResource> =>
  changeDeployment(deps, actor, address, {
    action: 'deployment.unpublished',
    isOpenToSuspended: true,
    apply: (before) => {
      const { published_as: published, ...rest } = before;
      return published === undefined ? before : rest;
    },
    writes: async ({ published_as: published = '' }) => {
      const { models } = deps;
      const model = await models.get(SERVERLESS_POOL, published);
      return model ? [models.toDelete(SERVERLESS_POOL, model), await toRetirePrices(models, SERVERLESS_POOL, model)] : [];
    },
  });
