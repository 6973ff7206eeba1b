import * as z from 'zod';
import { ACCOUNT_ID, REGION } from '../../assembly/resolve.ts';
import { AwsError, type Operations, readInput } from '../http/json-api.ts';
import { type EndpointQuotas, quotaCode, quotaName } from './endpoint-quotas.ts';

const SERVICE = 'sagemaker';
const MAX_PAGE = 100;

const GetServiceQuota = z.object({ ServiceCode: z.string(), QuotaCode: z.string() });
const ListServiceQuotas = z.object({
  ServiceCode: z.string(),
  QuotaCode: z.string().optional(),
  MaxResults: z.int().min(1).max(MAX_PAGE).default(MAX_PAGE),
  /** Index of the first quota of the page. */
  NextToken: z.coerce.number<string>().int().min(0).default(0),
});

const noSuchResource = (): AwsError =>
  new AwsError('NoSuchResourceException', 'The request failed because the specified service or quota does not exist.');

/** Service Quotas for `sagemaker`: GetServiceQuota and ListServiceQuotas. */
export const quotasOperations = (quotas: EndpointQuotas): Operations => {
  const describe = (instanceType: string) => ({
    ServiceCode: SERVICE,
    ServiceName: 'Amazon SageMaker',
    QuotaCode: quotaCode(instanceType),
    QuotaArn: `arn:aws:servicequotas:${REGION}:${ACCOUNT_ID}:${SERVICE}/${quotaCode(instanceType)}`,
    QuotaName: quotaName(instanceType),
    Value: quotas.limit(instanceType),
    Unit: 'None',
    Adjustable: true,
    GlobalQuota: false,
  });
  const all = (service: string) => {
    if (service !== SERVICE) throw noSuchResource();
    return quotas.instanceTypes().map(describe);
  };

  const getServiceQuota = (body: unknown): object => {
    const { ServiceCode: service, QuotaCode: code } = readInput(GetServiceQuota, body);
    const Quota = all(service).find(({ QuotaCode }) => QuotaCode === code);
    if (!Quota) throw noSuchResource();
    return { Quota };
  };

  const listServiceQuotas = (body: unknown): object => {
    const { ServiceCode: service, QuotaCode: code, MaxResults: size, NextToken: start } = readInput(ListServiceQuotas, body);
    const found = all(service).filter(({ QuotaCode }) => code === undefined || QuotaCode === code);
    const end = start + size;
    return { Quotas: found.slice(start, end), ...(end < found.length && { NextToken: String(end) }) };
  };

  return new Map([
    ['ServiceQuotasV20190624.GetServiceQuota', getServiceQuota],
    ['ServiceQuotasV20190624.ListServiceQuotas', listServiceQuotas],
  ]);
};
