import type { ActiveModel } from '../deployments/activity-store.ts';
import { isAwsName } from '../deployments/names.ts';
import { SERVERLESS_POOL } from '../models/model-store.ts';
import type { UsageEvent } from './event.ts';

/**
 * The model by which a deployment was used in a request; undefined if none was. Only requests of the on-demand host
 * have an end user; of a shared model, the endpoint tells if it is a deployment's.
 */
export const activeModelOf = ({ org_id, model, user_id, is_shared, endpoint }: UsageEvent): ActiveModel | undefined => {
  if (model === undefined) return undefined;
  if (user_id !== undefined && !is_shared) return { pool: org_id, name: model };
  return endpoint !== undefined && isAwsName(endpoint) ? { pool: SERVERLESS_POOL, name: model } : undefined;
};
