import type { S3Client } from '@aws-sdk/client-s3';
import { checkWeights } from '../../../functions/deployments/validate/weights.ts';
import type { Deployment } from '../../../shared/deployments/deployment.ts';
import { failure, ok, type Row } from './row.ts';

/**
 * Checks that the weights of each deployment are in S3, from where each wake reads them.
 * @param deployments that are not deleted
 */
export const weightsRow = async (client: S3Client, deployments: readonly Deployment[]): Promise<Row> => {
  const faults: string[] = [];
  for (const { id, generations } of deployments) {
    const newest = generations.at(-1);
    if (!newest) continue;
    const { passed, message } = await checkWeights(client, newest);
    if (!passed) faults.push(`${id}: ${message}`);
  }
  if (faults.length === 0) return ok('weights', `of ${deployments.length} deployments`);
  return failure('weights', faults.join('; '), 'Upload them again. A deleted object has earlier versions in the bucket for 30 days.');
};
