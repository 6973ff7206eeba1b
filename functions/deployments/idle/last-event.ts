import type { ActiveModel, ActivityStore } from '../../../shared/deployments/activity-store.ts';
import type { Deployment } from '../../../shared/deployments/deployment.ts';
import { SERVERLESS_POOL } from '../../../shared/models/model-store.ts';

/** The models by which a deployment is used: its own, those of its adapters, and its shared one. */
export const activeModelsOf = ({ organization, name, published_as, adapters = [] }: Deployment): ActiveModel[] => [
  ...[name, ...adapters.map((adapter) => adapter.name)].map((each) => ({ pool: organization, name: each })),
  ...(published_as === undefined ? [] : [{ pool: SERVERLESS_POOL, name: published_as }]),
];

/**
 * The end of the last known request to a deployment, including those to its adapters and to its shared model, in ms
 * since the epoch. Undefined if none is known.
 */
export const lastEventAt = async (activity: Pick<ActivityStore, 'lastEventAt'>, deployment: Deployment): Promise<number | undefined> => {
  const ends = await Promise.all(activeModelsOf(deployment).map((model) => activity.lastEventAt(model)));
  return ends.reduce((latest, end) => (latest !== undefined && (end === undefined || end <= latest) ? latest : end));
};
