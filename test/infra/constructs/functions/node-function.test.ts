import { expect, test } from '@jest/globals';
import type { Template } from 'aws-cdk-lib/assertions';
import { ReservedConcurrency } from '../../../../infra/config/config.ts';
import { type StackName, templateOf, templatesWith } from '../../../support/assembly/templates.ts';

const reservationsOf = (read: (stack: StackName) => Template): Record<string, number | undefined> =>
  Object.fromEntries(
    (['deployments', 'billing', 'notifications', 'serverless', 'ondemand', 'control'] as const)
      .flatMap((stack) => Object.values(read(stack).findResources('AWS::Lambda::Function')))
      .map(({ Properties }) => [Properties.Environment.Variables.SLUICE_FUNCTION, Properties.ReservedConcurrentExecutions]),
  );

test('no function reserves concurrency by default, so that the app can be deployed to a new account', () => {
  const reservations = reservationsOf(templateOf);
  expect(Object.keys(reservations)).toHaveLength(18);
  expect(Object.values(reservations).filter((count) => count !== undefined)).toEqual([]);
});

test('every function reserves what is set for it', async () => {
  const templates = await templatesWith({ reservedConcurrency: { inference: 7 } });
  expect(reservationsOf(templates)).toEqual({ ...ReservedConcurrency.parse({}), inference: 7 });
});

test('refuses a function whose environment Lambda would refuse, and says what makes it so large', async () => {
  const otlp = [1, 2, 3, 4].map((host) => ({
    traces: `https://otlp-${host}.example.com/${'t'.repeat(400)}/v1/traces`,
    metrics: `https://otlp-${host}.example.com/${'m'.repeat(400)}/v1/metrics`,
  }));
  await expect(templatesWith({ telemetry: { otlp } })).rejects.toThrow(
    /environment of the function telemetry can have \d+ bytes, and Lambda accepts 4096\. Shorten .*: TELEMETRY_DESTINATIONS \(\d+\)/,
  );
});
