import { ListServiceQuotasCommand, type ServiceQuotasClient } from '@aws-sdk/client-service-quotas';
import type { DeploymentFindings } from '../../../shared/deployments/validation.ts';
import { logError } from '../../../shared/logging/log.ts';

/** SageMaker has about two thousand quotas. */
const PAGE_SIZE = 100;
const MAX_PAGES = 40;

const SUFFIX = ' for endpoint usage';

const readLimits = async (client: ServiceQuotasClient, instanceTypes: readonly string[]): Promise<Map<string, number>> => {
  const limits = new Map<string, number>();
  let token: string | undefined;
  for (let page = 0; page < MAX_PAGES && limits.size < new Set(instanceTypes).size; page++) {
    const input = { ServiceCode: 'sagemaker', MaxResults: PAGE_SIZE, ...(token !== undefined && { NextToken: token }) };
    const { Quotas = [], NextToken } = await client.send(new ListServiceQuotasCommand(input));
    for (const { QuotaName = '', Value = 0 } of Quotas) {
      const type = QuotaName.endsWith(SUFFIX) ? QuotaName.slice(0, -SUFFIX.length) : '';
      if (instanceTypes.includes(type)) limits.set(type, Math.floor(Value));
    }
    token = NextToken;
    if (token === undefined) break;
  }
  return limits;
};

/**
 * AWS's quotas of instances for endpoints, in this account and region. They only inform, so a failure of Service Quotas is logged.
 * @param used how many instances of each type run
 * @returns the types of which a quota is known
 */
export const readQuotas = async (
  client: ServiceQuotasClient,
  instanceTypes: readonly string[],
  used: ReadonlyMap<string, number>,
): Promise<DeploymentFindings['quotas']> => {
  const limits = await readLimits(client, instanceTypes).catch((error: unknown) => {
    logError('quotas_unknown', error);
    return new Map<string, number>();
  });
  return instanceTypes.flatMap((type) => {
    const limit = limits.get(type);
    return limit === undefined ? [] : [{ instance_type: type, limit, used: used.get(type) ?? 0 }];
  });
};
