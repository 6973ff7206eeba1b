import type { Deployment, Generation } from '../../../shared/deployments/deployment.ts';

/** When the creation of a generation on AWS began. One copied from another one still has that one's times. */
export const creationOf = ({ started_at, created_at }: Generation): number | undefined =>
  started_at !== undefined && started_at >= created_at ? started_at : undefined;

/** When the copies of a generation that are starting began to; undefined if no pass has seen them start. */
export const startOf = ({ wake }: Pick<Deployment, 'wake'>, generation: Generation): number | undefined =>
  generation.status === 'creating' ? creationOf(generation) : (wake?.started_at ?? generation.short_since);
