import { spawn } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { compileCache } from '../../../../infra/local/processes/compile-cache.ts';
import { type FakeAws, startFakeAws } from '../../../support/emulators/fake-aws.ts';
import { temporaryFolder } from '../../../support/temporary-folder.ts';

const ROOT = path.join(import.meta.dirname, '../../../..');
// The emulated account's limits, and the executions that deployed functions hold.
interface Account {
  limit: number;
  unreserved: number;
  /** The functions of each deployed stack, and what they reserve. */
  stacks?: Record<string, Record<string, number>>;
}

const resourcesXml = (
  functions: readonly string[],
): string => `<ListStackResourcesResponse><ListStackResourcesResult><StackResourceSummaries>
${functions.map((name) => `<member><ResourceType>AWS::Lambda::Function</ResourceType><ResourceStatus>CREATE_COMPLETE</ResourceStatus><PhysicalResourceId>${name}</PhysicalResourceId></member>`).join('')}
<member><ResourceType>AWS::Lambda::Function</ResourceType><ResourceStatus>DELETE_COMPLETE</ResourceStatus><PhysicalResourceId>gone</PhysicalResourceId></member>
</StackResourceSummaries></ListStackResourcesResult></ListStackResourcesResponse>`;

const missingXml = (stack: string): string =>
  `<ErrorResponse><Error><Type>Sender</Type><Code>ValidationError</Code><Message>Stack with id ${stack} does not exist</Message></Error></ErrorResponse>`;

let aws: FakeAws;
const folder = temporaryFolder();
const contextFile = path.join(folder.path, 'context.json');
const app = path.join(folder.path, 'app.mjs');
beforeAll(async () => {
  aws = await startFakeAws();
  // An app that shows what it was given, and then ends the deployment.
  writeFileSync(
    app,
    `import { writeFileSync } from 'node:fs'; writeFileSync(${JSON.stringify(contextFile)}, process.env.CDK_CONTEXT_JSON); process.exit(1);`,
  );
});
afterEach(() => writeFileSync(contextFile, '{}'));
afterAll(async () => {
  await aws.close();
  await folder[Symbol.asyncDispose]();
});

const answerFor = ({ limit, unreserved, stacks = {} }: Account): void =>
  aws.answers((response, _attempt, { path: url, body }) => {
    const form = new URLSearchParams(body);
    const [, functionName] = /functions\/([^/]+)\/concurrency/.exec(url) ?? [];
    const held = Object.assign({}, ...Object.values(stacks)) as Record<string, number>;
    const functions = stacks[form.get('StackName') ?? ''];
    response.setHeader('content-type', form.has('Action') ? 'text/xml' : 'application/json');
    if (url.includes('account-settings'))
      response.end(JSON.stringify({ AccountLimit: { ConcurrentExecutions: limit, UnreservedConcurrentExecutions: unreserved } }));
    else if (functionName) response.end(JSON.stringify({ ReservedConcurrentExecutions: held[functionName] }));
    else if (form.get('Action') !== 'ListStackResources') response.writeHead(400).end();
    else if (functions) response.end(resourcesXml(Object.keys(functions)));
    else response.writeHead(400).end(missingXml(form.get('StackName') ?? ''));
  });

// Runs without a terminal. Returns its output, and the settings that the app got from the CDK.
const deploy = async (...flags: string[]) => {
  const env = {
    ...compileCache,
    ...process.env,
    AWS_ENDPOINT_URL: aws.url,
    AWS_ACCESS_KEY_ID: 'test',
    AWS_SECRET_ACCESS_KEY: 'test',
    AWS_REGION: 'eu-west-1',
    AWS_EC2_METADATA_DISABLED: 'true',
    CDK_DISABLE_CLI_TELEMETRY: 'true',
  };
  const child = spawn(process.execPath, [path.join(ROOT, 'infra/tools/deploy/main.ts'), ...flags], {
    cwd: folder.path,
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', (text: string) => (output += text));
  const code = await new Promise((resolve) => child.once('close', resolve));
  const context = existsSync(contextFile) ? JSON.parse(readFileSync(contextFile, 'utf8')) : {};
  return { code, output, settings: typeof context.sluice === 'string' ? JSON.parse(context.sluice) : undefined };
};
const approved = ['--require-approval', 'never', '--app', `node ${app}`, '--output', path.join(folder.path, 'cdk.out')];

describe('npm run deploy', () => {
  test('says what to add if there is no terminal to ask on, and asks nothing of AWS', async () => {
    answerFor({ limit: 10, unreserved: 10 });
    const { code, output } = await deploy();
    expect({ code, output }).toEqual({ code: 1, output: expect.stringContaining('Add: npm run deploy -- --require-approval never\n') });
    expect(aws.received).toEqual([]);
  });

  test('reserves nothing in a new account, and says so', async () => {
    answerFor({ limit: 10, unreserved: 10 });
    const { output, settings } = await deploy(...approved);
    expect(output).toContain('The account has 10 concurrent executions and can reserve 0 of them for Sluice, but 896 are needed.');
    // A quarter of what all functions share.
    expect(settings).toEqual({
      reservedConcurrency: null,
      organizationConcurrency: 2,
      deployments: { maxHeldRequestsOfOrganization: 2 },
    });
  });

  test('keeps the shares that are set in an account without room', async () => {
    answerFor({ limit: 10, unreserved: 10 });
    const set = { organizationConcurrency: 5, deployments: { hubModels: true, maxHeldRequests: 3 } };
    const { settings } = await deploy(...approved, '-c', `sluice=${JSON.stringify(set)}`);
    expect(settings).toEqual({ ...set, reservedConcurrency: null });
  });

  test('reserves the default numbers in an account with room, and keeps the other settings', async () => {
    answerFor({ limit: 1_000, unreserved: 1_000 });
    const { output, settings } = await deploy(...approved, '-c', 'sluice={"name":"acme","logRetentionDays":7}');
    expect(output).toContain("Reserving 896 of the account's 1000 concurrent executions.");
    expect(settings).toMatchObject({ name: 'acme', logRetentionDays: 7, reservedConcurrency: { inference: 400, metering: 5 } });
  });

  test('keeps the reservations of the deployed stacks when it runs again', async () => {
    const stacks = {
      'sluice-deployments': { deployments: 10 },
      'sluice-billing': { billing: 10 },
      'sluice-notifications': { notifications: 10 },
      'sluice-serverless': { inference: 400, catalog: 30, metering: 5, rollup: 10, refusals: 5, tokenizer: 120 },
      'sluice-ondemand': { 'ondemand-inference': 200, 'ondemand-catalog': 20 },
      'sluice-control': { control: 20 },
    };
    answerFor({ limit: 1_000, unreserved: 160, stacks });
    expect((await deploy(...approved)).settings).toMatchObject({ reservedConcurrency: { inference: 400 } });
  });

  test('deploys nothing if the account has no room for what is set', async () => {
    answerFor({ limit: 10, unreserved: 10 });
    const { code, output, settings } = await deploy(...approved, '-c', 'sluice={"reservedConcurrency":{}}');
    expect({ code, settings }).toEqual({ code: 1, settings: undefined });
    expect(output).toContain("but 896 are set in 'reservedConcurrency'");
  });

  test('asks nothing of the account if the reservation is off', async () => {
    answerFor({ limit: 10, unreserved: 10 });
    const { settings } = await deploy(...approved, '-c', 'sluice={"reservedConcurrency":null}');
    expect(settings).toEqual({ reservedConcurrency: null });
    expect(aws.received.filter(({ path: url }) => url.includes('account-settings'))).toEqual([]);
  });

  test('says what it needs if the account does not answer, and deploys nothing', async () => {
    aws.answers((response) => response.writeHead(403, { 'content-type': 'application/json' }).end('{"message":"not authorized"}'));
    const { code, output, settings } = await deploy(...approved);
    expect({ code, settings }).toEqual({ code: 1, settings: undefined });
    expect(output).toContain('the permissions are lambda:GetAccountSettings');
  });
});
