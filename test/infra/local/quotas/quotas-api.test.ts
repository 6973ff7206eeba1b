import { GetServiceQuotaCommand, ListServiceQuotasCommand, type ServiceQuota } from '@aws-sdk/client-service-quotas';
import { expect, test } from '@jest/globals';
import { createControlPlane } from '../../../support/emulators/sagemaker-control-plane.ts';

test('each instance type has a quota of 4 instances, unless another one is set', async () => {
  const { quotas } = createControlPlane({ settings: { quotas: { 'ml.g5.xlarge': 1, 'ml.p6.48xlarge': 0 } } });
  const found: ServiceQuota[] = [];
  let NextToken: string | undefined;
  do {
    const page = await quotas.send(new ListServiceQuotasCommand({ ServiceCode: 'sagemaker', MaxResults: 10, NextToken }));
    found.push(...(page.Quotas ?? []));
    NextToken = page.NextToken;
  } while (NextToken !== undefined);
  const values = new Map(found.map(({ QuotaName, Value }) => [QuotaName, Value]));
  expect(values.get('ml.g5.xlarge for endpoint usage')).toBe(1);
  expect(values.get('ml.g6.xlarge for endpoint usage')).toBe(4);
  expect(values.get('ml.p6.48xlarge for endpoint usage')).toBe(0);
  expect(values.size).toBe(found.length);
  const [first] = found;
  const { Quota } = await quotas.send(new GetServiceQuotaCommand({ ServiceCode: 'sagemaker', QuotaCode: first?.QuotaCode }));
  expect(Quota).toEqual(first);
});

test('an unknown quota or service does not exist', async () => {
  const { quotas } = createControlPlane();
  const missing = { name: 'NoSuchResourceException' };
  await expect(quotas.send(new GetServiceQuotaCommand({ ServiceCode: 'sagemaker', QuotaCode: 'L-0' }))).rejects.toMatchObject(missing);
  await expect(quotas.send(new ListServiceQuotasCommand({ ServiceCode: 'ec2' }))).rejects.toMatchObject(missing);
});
