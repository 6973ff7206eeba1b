import { expect, test } from '@jest/globals';
import type { Resource } from '../../../infra/assembly/read-assembly.ts';
import { readAssembly } from '../../../infra/assembly/read-assembly.ts';
import { assemblyDir } from '../../support/assembly/assembly.ts';

const idIn = (reference: unknown): string => /"(?:Ref|Fn::GetAtt)":\[?"(\w+)"/.exec(JSON.stringify(reference))?.[1] ?? '';

test('a run that repeats itself is not repeated by AWS, and one that waited until the next one is dropped', async () => {
  const found: Record<string, object> = {};
  for (const { resources } of await readAssembly(assemblyDir())) {
    const ofType = (type: string): Resource[] => [...resources.values()].filter((resource) => resource.type === type);
    for (const { properties: rule } of ofType('AWS::Events::Rule').filter(({ properties }) => properties.ScheduleExpression)) {
      const [target] = rule.Targets as { Arn: unknown; RetryPolicy: unknown }[];
      const id = idIn(target?.Arn);
      const config = ofType('AWS::Lambda::EventInvokeConfig').find(({ properties }) => idIn(properties.FunctionName) === id)?.properties;
      found[String(Object(resources.get(id)?.properties.Environment).Variables.SLUICE_FUNCTION)] = {
        every: rule.ScheduleExpression,
        deliveryRetries: Object(target?.RetryPolicy).MaximumRetryAttempts,
        retries: config?.MaximumRetryAttempts,
        maxAgeSeconds: config?.MaximumEventAgeInSeconds,
      };
    }
  }
  expect(found).toEqual({
    billing: { every: 'rate(1 hour)', deliveryRetries: 0, retries: 0, maxAgeSeconds: 3_600 },
    metering: { every: 'rate(5 minutes)', deliveryRetries: 0, retries: 0, maxAgeSeconds: 300 },
    support: { every: 'rate(5 minutes)', deliveryRetries: 0, retries: 0, maxAgeSeconds: 300 },
    // Requests wake deployments by the same events, and their retries are worth more than those of the schedule cost.
    deployments: { every: 'rate(1 minute)', deliveryRetries: 0, retries: 2, maxAgeSeconds: 300 },
  });
});
