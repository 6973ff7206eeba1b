import { describe, expect, test } from '@jest/globals';
import type { LambdaFunction } from '../../../../infra/assembly/local-app.ts';
import { functionVariables } from '../../../../infra/local/lambda/environment-variables.ts';

const url = 'http://127.0.0.1:1';
const endpoints = { dynamodbUrl: url, sagemakerUrl: url, s3Url: url, lambdaUrl: url, sqsUrl: url, sesUrl: url, cognitoUrl: null };

const variablesOf = (environment: Record<string, string>): Record<string, string> => {
  const fn: LambdaFunction = {
    arn: 'arn:aws:lambda:us-east-1:123456789012:function:notifications',
    name: 'notifications',
    shortName: 'notifications',
    folder: '/tmp',
    handler: 'index.handler',
    environment,
    timeoutMs: 1_000,
    memoryMiB: 256,
  };
  return functionVariables(fn, endpoints);
};

describe('the networks to which webhooks are delivered', () => {
  test.each([
    ['', '127.0.0.0/8,::1/128'],
    ['10.1.0.0/16', '10.1.0.0/16,127.0.0.0/8,::1/128'],
  ])('are those of the template (%j) and the machine, so that a receiver can run on it', (deployed, local) => {
    expect(variablesOf({ ALLOWED_NETWORKS: deployed }).ALLOWED_NETWORKS).toBe(local);
  });

  test('are unknown to functions that deliver nothing', () => {
    expect(variablesOf({})).not.toHaveProperty('ALLOWED_NETWORKS');
  });
});
