import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { doctor } from '../../../../infra/tools/doctor/main.ts';
import { type FakeAws, startFakeAws } from '../../../support/emulators/fake-aws.ts';
import { runProgram } from '../../../support/run-program.ts';

let aws: FakeAws;
beforeAll(async () => {
  aws = await startFakeAws();
});
afterAll(() => aws.close());

const run = async (flags: string[], environment: Record<string, string> = { AWS_REGION: 'eu-west-1' }) => {
  const { PATH = '', HOME = '' } = process.env;
  const keys = { AWS_ACCESS_KEY_ID: 'x', AWS_SECRET_ACCESS_KEY: 'x', AWS_ENDPOINT_URL: aws.url, AWS_MAX_ATTEMPTS: '1' };
  const { code, stdout: output, stderr: errors } = await runProgram(doctor, flags, { PATH, HOME, ...keys, ...environment });
  return { code, output, errors };
};
const rowsOf = (output: string): Record<string, string> =>
  Object.fromEntries((JSON.parse(output) as { check: string; status: string }[]).map(({ check, status }) => [check, status]));

const missing =
  '<ErrorResponse><Error><Type>Sender</Type><Code>ValidationError</Code><Message>Stack with id x does not exist</Message></Error></ErrorResponse>';
const bootstrapped =
  '<DescribeStacksResponse><DescribeStacksResult><Stacks><member><StackName>CDKToolkit</StackName><CreationTime>2026-11-21T00:00:00Z</CreationTime><StackStatus>CREATE_COMPLETE</StackStatus><Outputs><member><OutputKey>BootstrapVersion</OutputKey><OutputValue>21</OutputValue></member></Outputs></member></Stacks></DescribeStacksResult></DescribeStacksResponse>';

const emptyAccount = (): void =>
  aws.answers((response, _, { headers, body, path: url }) => {
    const service = /\/\d{8}\/[^/]+\/([^/]+)\//.exec(headers.authorization ?? '')?.[1];
    if (service === 'lambda' && url.includes('account-settings'))
      response.end('{"AccountLimit":{"ConcurrentExecutions":1000,"UnreservedConcurrentExecutions":1000}}');
    else if (service === 'servicequotas')
      response
        .writeHead(200, { 'content-type': 'application/x-amz-json-1.1' })
        .end('{"Quotas":[{"QuotaName":"ml.g5.xlarge for endpoint usage","Value":1}],"Quota":{"Value":10000}}');
    else if (service === 'iam') response.writeHead(200, { 'content-type': 'text/xml' }).end('<GetRoleResponse/>');
    else if (body.includes('CDKToolkit')) response.writeHead(200, { 'content-type': 'text/xml' }).end(bootstrapped);
    else response.writeHead(400, { 'content-type': 'text/xml' }).end(missing);
  });

test('checks what a deployment needs, and skips the rest, in an account in which nothing is deployed', async () => {
  emptyAccount();
  const { code, output, errors } = await run(['--json']);
  expect(errors).toBe('');
  expect(rowsOf(output)).toEqual({
    Node: 'ok',
    region: 'ok',
    credentials: 'ok',
    'Lambda concurrency': 'ok',
    'CDK bootstrap': 'ok',
    'GPU quotas': 'ok',
    'API Gateway quota': 'ok',
    'scaling role': 'ok',
    email: 'skipped',
    ...{
      stacks: 'skipped',
      release: 'skipped',
      tables: 'skipped',
      models: 'skipped',
      weights: 'skipped',
      alarms: 'skipped',
      ledger: 'skipped',
    },
  });
  expect(code).toBe(0);
});

test('sends no request with the key for a smoke request while nothing is deployed', async () => {
  emptyAccount();
  const { code, output } = await run(['--json', '--smoke', 'sk-s-key']);
  expect(rowsOf(output)).toMatchObject({ 'smoke request': 'skipped' });
  expect(output).not.toContain('sk-s-key');
  expect(code).toBe(0);
});

test('is a table for people, with what to do', async () => {
  emptyAccount();
  const { code, output } = await run([]);
  expect(code).toBe(0);
  expect(output).toMatch(/^\| status +\| check +\| found +\| what to do +\|$/m);
  expect(output).toMatch(/^\| skipped \| stacks +\| nothing is deployed +\| npm run deploy +\|$/m);
});

test("fails without a region, without valid credentials, and for settings that the region can't have", async () => {
  const noRegion = await run(['--json'], {});
  expect(noRegion.code).toBe(1);
  expect(rowsOf(noRegion.output)).toEqual({ region: 'failure' });
  aws.answers((response) =>
    response
      .writeHead(403, { 'content-type': 'application/json', 'x-amzn-errortype': 'ExpiredTokenException' })
      .end('{"message":"The security token is expired"}'),
  );
  const expired = await run(['--json']);
  expect(expired.code).toBe(1);
  expect(rowsOf(expired.output)).toEqual({ Node: 'ok', region: 'ok', credentials: 'failure' });
  expect(expired.output).toContain('The security token is expired');
  const rejected = await run(['-c', 'sluice={"nam":1}']);
  expect(rejected).toMatchObject({ code: 1, errors: expect.stringContaining('nam') });
  const settings = 'sluice={"billBudget":{"monthlyUsd":500},"alarmEmail":"ops@example.com"}';
  const lacking = await run(['-c', settings], { AWS_REGION: 'eu-north-1' });
  expect(lacking).toMatchObject({ code: 1, errors: expect.stringContaining("can't create budgets in eu-north-1") });
});
