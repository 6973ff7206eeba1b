import path from 'node:path';
import { CloudFormationClient } from '@aws-sdk/client-cloudformation';
import { CloudWatchClient } from '@aws-sdk/client-cloudwatch';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { S3Client } from '@aws-sdk/client-s3';
import { SageMakerClient } from '@aws-sdk/client-sagemaker';
import { ServiceQuotasClient } from '@aws-sdk/client-service-quotas';
import { SESv2Client } from '@aws-sdk/client-sesv2';
import { BUILT_IN_INSTANCE_TYPES } from '../../../functions/control/instance-types/built-in-instance-types.ts';
import { createOrganizationStore } from '../../../functions/control/organizations/organization-store.ts';
import { createLimiterConfigurationStore } from '../../../shared/admission/stores/limiter-configuration-store.ts';
import { createLimiterStore } from '../../../shared/admission/stores/limiter-store.ts';
import { createCreditStore } from '../../../shared/credit/credit-store.ts';
import { createRecordTable } from '../../../shared/database/record-table.ts';
import { createSdkDatabase } from '../../../shared/database/sdk-database.ts';
import type { Deployment } from '../../../shared/deployments/deployment.ts';
import { createDeploymentStore, listLiveDeployments } from '../../../shared/deployments/deployment-store.ts';
import { createModelStore, SERVERLESS_POOL } from '../../../shared/models/model-store.ts';
import { createGpuEventStore } from '../../../shared/usage/gpu-event-store.ts';
import { createRollupStore } from '../../../shared/usage/rollup-store.ts';
import { createUsageStore } from '../../../shared/usage/usage-store.ts';
import { readTemplates } from '../../assembly/read-templates.ts';
import { type Config, ReservedConcurrency, readConfig } from '../../config/config.ts';
import { nodeVersion, version } from '../../config/release.ts';
import { describeFailure } from '../aws-failure.ts';
import { CONNECT_MS, REQUEST_HANDLER, REQUEST_MS } from '../aws-timeouts.ts';
import { readAccountConcurrency } from '../deploy/account-concurrency.ts';
import { readCommandLine } from '../deploy/command-line.ts';
import { listStackResources } from '../deploy/stack-resources.ts';
import { readFlags } from '../read-flags.ts';
import { toTable } from '../table.ts';
import { bootstrapRow, concurrencyRow, quotaRow, requestQuotaRow } from './account.ts';
import { alarmsRow } from './alarms.ts';
import { emailRow } from './email.ts';
import { ledgerRow } from './ledger.ts';
import { modelRows } from './models.ts';
import { attempt, failure, ok, type Row, skipped } from './row.ts';
import { scalingRoleRow } from './scaling-role.ts';
import { smokeRow } from './smoke.ts';
import { nodeRow } from './software.ts';
import { type DeployedStack, readStacks, releaseRow, stacksRow } from './stacks.ts';
import { tablesRow, wantedTables } from './tables.ts';
import { weightsRow } from './weights.ts';

// `npm run doctor` checks an account before and after a deployment, and fails if a row does. It changes nothing; only
// the request of `--smoke KEY` is charged.
const ROOT = path.join(import.meta.dirname, '../../..');
const CREDENTIALS = 'Log in, for instance with aws sso login or by setting AWS_PROFILE; if a permission is missing, the message names it.';
const DEPLOY_FIRST = 'npm run deploy';

const accountRows = async (stacks: readonly string[], config: Config, options: { region: string }): Promise<Row[]> => {
  const wanted = Object.values(ReservedConcurrency.parse({})).reduce((sum, count) => sum + count, 0);
  const ofLambda = await attempt(
    'credentials',
    async () => [ok('credentials', 'accepted'), concurrencyRow(await readAccountConcurrency(stacks), wanted)],
    CREDENTIALS,
  );
  if (ofLambda.some(({ status }) => status === 'failure')) return ofLambda;
  const types = BUILT_IN_INSTANCE_TYPES.map(({ id }) => id);
  const requests = Object.values(config.hosts).reduce((sum, { requestsPerSecond }) => sum + requestsPerSecond, 0);
  const cloudFormation = new CloudFormationClient(options);
  const quotas = new ServiceQuotasClient(options);
  return [
    ...ofLambda,
    ...(await attempt('CDK bootstrap', async () => [await bootstrapRow(cloudFormation)], CREDENTIALS)),
    ...(await attempt('GPU quotas', async () => [await quotaRow(quotas, types)], CREDENTIALS)),
    ...(await attempt('API Gateway quota', async () => [await requestQuotaRow(quotas, requests)], CREDENTIALS)),
    ...(await attempt(
      'scaling role',
      async () => [await scalingRoleRow(await cloudFormation.config.credentials(), options.region)],
      CREDENTIALS,
    )),
    ...(await attempt('email', async () => [await emailRow(new SESv2Client(options), config.notifications.emailFrom)], CREDENTIALS)),
  ];
};

// `smokeKey` is the API key of the request that is sent, if one is.
const deploymentRows = async (
  { name, endpointTag }: Config,
  smokeKey: string | undefined,
  deployed: ReadonlyMap<string, DeployedStack>,
  templates: Awaited<ReturnType<typeof readTemplates>>,
  options: object,
): Promise<Row[]> => {
  const outputOf = (stack: string, output: string): string => {
    const value = deployed.get(`${name}-${stack}`)?.outputs.get(output);
    if (value === undefined) throw new Error(`The stack ${name}-${stack} has no output ${output}.`);
    return value;
  };
  const table = (output: string): string => outputOf('data', output);
  const database = createSdkDatabase({ connectMs: CONNECT_MS, requestTimeoutMs: REQUEST_MS });
  const resources = (await listStackResources(new CloudFormationClient(options), `${name}-data`)) ?? [];
  const accounts = () => createRecordTable(database, table('AccountsTable'));
  const ledger = () => ({
    limiters: createLimiterStore(database, table('KeysTable')),
    credit: createCreditStore(database, table('AccountsTable')),
    rollups: createRollupStore(database, table('UsageTable')),
    gpuEvents: createGpuEventStore(database, table('UsageTable')),
    deployments: createDeploymentStore(createRecordTable(database, table('DeploymentsTable'))),
    organizations: createOrganizationStore(accounts()),
  });
  const models = async (): Promise<Row[]> => {
    const published = await createModelStore(database, table('ModelsTable')).list(SERVERLESS_POOL);
    const sagemakerIn = (region: string | undefined) => new SageMakerClient({ ...options, ...(region !== undefined && { region }) });
    const deps = { sagemakerIn, s3: new S3Client(options), tokenizersBucket: table('TokenizersBucket'), endpointTag };
    return modelRows(deps, [...published.values()]);
  };
  const weights = async (): Promise<Row[]> => {
    const store = createDeploymentStore(createRecordTable(database, table('DeploymentsTable')));
    const live: Deployment[] = [];
    for await (const id of listLiveDeployments(database, table('DeploymentsTable'))) {
      const deployment = await store.find(id);
      if (deployment) live.push(deployment);
    }
    return [await weightsRow(new S3Client(options), live)];
  };
  const smoke = (secret: string) => {
    const limiters = createLimiterConfigurationStore(database, table('KeysTable'));
    const usage = createUsageStore(database, table('UsageTable'));
    const published = createModelStore(database, table('ModelsTable'));
    return smokeRow({ baseUrl: outputOf('serverless', 'BaseUrl'), models: published, limiters, usage }, secret);
  };
  const again = "Run it again. If it fails again, read the function's log.";
  return [
    ...(await attempt('release', async () => [await releaseRow(outputOf('control', 'ControlUrl'), version)], again)),
    ...(await attempt('tables', async () => [await tablesRow(new DynamoDBClient(options), wantedTables(templates, resources))], again)),
    ...(await attempt('models', models, again)),
    ...(await attempt('weights', weights, again)),
    ...(await attempt('alarms', async () => [await alarmsRow(new CloudWatchClient(options), `${name}-operations`)], again)),
    ...(await attempt('ledger', async () => [await ledgerRow(ledger())], again)),
    ...(smokeKey === undefined ? [] : await attempt('smoke request', async () => [await smoke(smokeKey)], again)),
  ];
};

const examine = async (flags: readonly string[], smokeKey: string | undefined): Promise<Row[]> => {
  const { context, profile } = readCommandLine(flags, path.join(ROOT, 'cdk.json'));
  if (profile !== undefined) process.env.AWS_PROFILE = profile;
  // The CDK accepts both variables, the SDK only the first.
  process.env.AWS_REGION ??= process.env.AWS_DEFAULT_REGION ?? '';
  const region = process.env.AWS_REGION;
  if (!region) return [failure('region', 'none is set', 'export AWS_REGION=eu-west-1, or the region that you want')];
  const config = readConfig(context, region);
  const options = { requestHandler: REQUEST_HANDLER, region };
  const templates = await readTemplates(context);
  const names = templates.map(({ name }) => name);
  const rows = [nodeRow(process.versions.node, nodeVersion), ok('region', region), ...(await accountRows(names, config, options))];
  if (rows.some(({ check, status }) => check === 'credentials' && status === 'failure')) return rows;
  const deployed = await readStacks(new CloudFormationClient(options), names);
  rows.push(stacksRow(names, deployed));
  if (deployed.has(`${config.name}-data`)) return [...rows, ...(await deploymentRows(config, smokeKey, deployed, templates, options))];
  return [
    ...rows,
    ...['release', 'tables', 'models', 'weights', 'alarms', 'ledger', ...(smokeKey === undefined ? [] : ['smoke request'])].map((check) =>
      skipped(check, 'nothing is deployed', DEPLOY_FIRST),
    ),
  ];
};

const USAGE = `npm run doctor -- [options]

Checks the machine, the account and, once it is deployed, the installation. Each row that is not in order says what to do. Fails if one has failed.

  --smoke KEY       also sends a request with this API key, and looks for its usage event
  -c sluice=JSON    settings instead of those of cdk.json
  --profile NAME    the AWS profile
  --json            prints JSON
  --help
`;

const OPTIONS = {
  json: { type: 'boolean', default: false },
  smoke: { type: 'string' },
  context: { type: 'string', short: 'c', multiple: true },
  profile: { type: 'string' },
} as const;

const main = async (flags: readonly string[]): Promise<number> => {
  const { json, smoke } = readFlags(USAGE, OPTIONS, flags);
  const rows = await examine(flags, smoke);
  const cells = rows.map(({ check, status, found, advice }) => [status, check, found, advice]);
  if (json) console.log(JSON.stringify(rows, null, 2));
  else console.log(toTable([['status', 'check', 'found', 'what to do'], ...cells], ['left', 'left', 'left', 'left']));
  return rows.some(({ status }) => status === 'failure') ? 1 : 0;
};

/** Runs a command line. @returns the exit code */
export const doctor = async (flags: readonly string[]): Promise<number> => {
  try {
    return await main(flags);
  } catch (error) {
    console.error(describeFailure(error));
    return 1;
  }
};

if (import.meta.main) process.exitCode = await doctor(process.argv.slice(2));
