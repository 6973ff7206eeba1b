import { ListServiceQuotasCommand, type ServiceQuotasClient } from '@aws-sdk/client-service-quotas';
import type { DeploymentFindings } from '../../../shared/deployments/validation.ts';
import { logError } from '../../../shared/logging/log.ts';

// SageMaker has about two thousand quotas.
const PAGE_SIZE = 100;
const MAX_QUOTA_PAGES = 40;
// Less than the time that the control plane waits for the whole validation.
const MAX_READ_MS = 8_000;

const SUFFIX = ' for endpoint usage';

// Quotas are in no useful order, and their codes are not known.
async function* readLimits(
  client: ServiceQuotasClient,
  instanceTypes: ReadonlySet<string>,
  abortSignal: AbortSignal,
): AsyncGenerator<readonly [type: string, limit: number]> {
  let left = instanceTypes.size;
  let token: string | undefined;
  for (let page = 0; page < MAX_QUOTA_PAGES && left > 0; page++) {
    const input = { ServiceCode: 'sagemaker', MaxResults: PAGE_SIZE, ...(token !== undefined && { NextToken: token }) };
    const { Quotas = [], NextToken } = await client.send(new ListServiceQuotasCommand(input), { abortSignal });
    for (const { QuotaName = '', Value = 0 } of Quotas) {
      const type = QuotaName.endsWith(SUFFIX) ? QuotaName.slice(0, -SUFFIX.length) : '';
      if (!instanceTypes.has(type)) continue;
      left -= 1;
      yield [type, Math.floor(Value)];
    }
    token = NextToken;
    if (token === undefined) break;
  }
}

/**
 * AWS's quotas of instances for endpoints, in this account and region. They only inform, so a failure of Service Quotas
 * is logged, and its list of thousands is read for no longer than eight seconds.
 * @param used the number of running instances of each type
 * @returns the types with a known quota
 */
export const readQuotas = async (
  client: ServiceQuotasClient,
  instanceTypes: readonly string[],
  used: ReadonlyMap<string, number>,
  signal = AbortSignal.timeout(MAX_READ_MS),
): Promise<DeploymentFindings['quotas']> => {
  const limits = new Map<string, number>();
  try {
    for await (const [type, limit] of readLimits(client, new Set(instanceTypes), signal)) limits.set(type, limit);
  } catch (error) {
    logError('quotas_unknown', error, { instance_types: instanceTypes.filter((type) => !limits.has(type)) });
  }
  return instanceTypes.flatMap((type) => {
    const limit = limits.get(type);
    return limit === undefined ? [] : [{ instance_type: type, limit, used: used.get(type) ?? 0 }];
  });
};
