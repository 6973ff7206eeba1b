import type { ActivityStore } from '../../../shared/deployments/activity-store.ts';
import type { Deployment } from '../../../shared/deployments/deployment.ts';
import { SERVERLESS_POOL } from '../../../shared/models/model-store.ts';

/**
 * The end of the last known request to a deployment, including those to its adapters and to its shared model, in ms
 * since the epoch. Undefined if none is known.
 */
export const lastEventAt = async (
  activity: Pick<ActivityStore, 'lastEventAt'>,
  { organization, name, published_as, adapters = [] }: Deployment,
): Promise<number | undefined> => {
  const names = [name, ...adapters.map((adapter) => adapter.name)];
  const models = [
    ...names.map((each) => ({ pool: organization, name: each })),
    ...(published_as === undefined ? [] : [{ pool: SERVERLESS_POOL, name: published_as }]),
  ];
  const ends = await Promise.all(models.map((model) => activity.lastEventAt(model)));
  return ends.reduce((latest, end) => (latest !== undefined && (end === undefined || end <= latest) ? latest : end));
};
