import { describe, expect, test } from '@jest/globals';
import { admin } from '../../../infra/tools/admin/main.ts';
import { describeFailure } from '../../../infra/tools/aws-failure.ts';
import { runProgram } from '../../support/run-program.ts';

// Credentials, no region, and a port on which nothing listens.
const NOWHERE = {
  AWS_ACCESS_KEY_ID: 'x',
  AWS_SECRET_ACCESS_KEY: 'x',
  AWS_CONFIG_FILE: '/dev/null',
  AWS_ENDPOINT_URL: 'http://127.0.0.1:9',
};

const named = (name: string, message: string, more: object = {}): Error => Object.assign(new Error(message), { name, ...more });

describe('the error of a command that cannot reach AWS', () => {
  test('says how to log in, if there are no credentials or they have expired', () => {
    for (const name of ['CredentialsProviderError', 'ExpiredTokenException', 'UnrecognizedClientException'])
      expect(describeFailure(named(name, 'Could not load credentials.'))).toBe(
        `${name}: Could not load credentials. Log in, for instance with aws sso login or by setting AWS_PROFILE.`,
      );
  });

  test('names the region, if AWS has no such host', () => {
    const before = process.env.AWS_REGION;
    process.env.AWS_REGION = 'eu-west-9';
    const error = named('Error', 'getaddrinfo ENOTFOUND lambda.eu-west-9.amazonaws.com', { code: 'ENOTFOUND' });
    expect(describeFailure(error)).toMatch(/amazonaws\.com\. Check AWS_REGION, which is eu-west-9, and the network\.$/);
    process.env.AWS_REGION = before;
  });

  test('stays as it is, if it says what to do itself', () => {
    expect(describeFailure(named('AccessDeniedException', 'You need lambda:GetFunction.'))).toBe(
      'AccessDeniedException: You need lambda:GetFunction.',
    );
    expect(describeFailure('text')).toBe('text');
  });
});

describe('npm run admin', () => {
  const balance = (variables: Record<string, string>) => runProgram(admin, ['balance', '--org', 'org_1'], { ...NOWHERE, ...variables });

  test('says which variable is missing without a region', async () => {
    const { code, stderr } = await balance({});
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr: 'Error: Region is missing. Set AWS_REGION to the one that Sluice is deployed in.\n',
    });
  });

  test('also takes the region from the other variable that the AWS CLI and the CDK accept', async () => {
    expect((await balance({ AWS_DEFAULT_REGION: 'eu-west-1' })).stderr).toMatch(/ECONNREFUSED/);
  });
});
