import type { ReplyBody } from '../../client/routes.ts';
import { toUnits } from '../../design/format/amounts.ts';

export type Deployment = ReplyBody<'GET /v1/deployments'>['data'][number];

// States in which requests wait until a copy is ready.
const WAITING: ReadonlySet<Deployment['state']> = new Set(['pending', 'creating', 'waking']);

/** True for a deployment whose requests wait until a copy is ready. */
export const isWaiting = ({ state }: Pick<Deployment, 'state'>): boolean => WAITING.has(state);

/** The number of instances that run now and are charged. */
export const instancesOf = ({ instances }: Pick<Deployment, 'instances'>): number => instances.reduce((sum, { count }) => sum + count, 0);

/**
 * The deployments that cost money now, wait or have failed: the failed ones first, then those that wait, then by cost.
 */
export const notableOf = (deployments: readonly Deployment[]): readonly Deployment[] => {
  const rankOf = (each: Deployment): number => (each.state === 'failed' ? 0 : isWaiting(each) ? 1 : 2);
  const costOf = ({ price_per_hour }: Deployment): bigint => toUnits(price_per_hour);
  return deployments
    .filter((each) => rankOf(each) < 2 || instancesOf(each) > 0)
    .sort((a, b) => rankOf(a) - rankOf(b) || (costOf(a) < costOf(b) ? 1 : costOf(a) > costOf(b) ? -1 : 0));
};
