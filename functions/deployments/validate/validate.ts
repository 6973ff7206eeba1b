import type { S3Client } from '@aws-sdk/client-s3';
import type { ServiceQuotasClient } from '@aws-sdk/client-service-quotas';
import type { DeploymentFindings, DeploymentToValidate } from '../../../shared/deployments/validation.ts';
import { readQuotas } from './quotas.ts';
import { checkWeights } from './weights.ts';

export interface ValidationDependencies {
  s3: S3Client;
  serviceQuotas: ServiceQuotasClient;
  /** The instances of all deployments by type. */
  instancesUsed: () => Promise<ReadonlyMap<string, number>>;
}

/** Checks weights and quotas for a new deployment on AWS, without changing anything. @throws the SDK's errors */
export const validate = async (deps: ValidationDependencies, question: DeploymentToValidate): Promise<DeploymentFindings> => {
  const [weights, quotas] = await Promise.all([
    checkWeights(deps.s3, question),
    deps.instancesUsed().then((used) => readQuotas(deps.serviceQuotas, question.instance_types, used)),
  ]);
  return { weights, quotas };
};
