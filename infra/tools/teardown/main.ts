import path from 'node:path';
import { CloudFormationClient } from '@aws-sdk/client-cloudformation';
import { SageMakerClient } from '@aws-sdk/client-sagemaker';
import { readTemplates } from '../../assembly/read-templates.ts';
import { type Config, readConfig } from '../../config/config.ts';
import { describeFailure } from '../aws-failure.ts';
import { REQUEST_HANDLER } from '../aws-timeouts.ts';
import { readCommandLine } from '../deploy/command-line.ts';
import { listStackResources, type StackResource } from '../deploy/stack-resources.ts';
import { readFlags } from '../read-flags.ts';
import { deletionOf, type Leftover, leftoversOf } from './leftovers.ts';
import { billedAccelerators, describeEndpoints, listRunningEndpoints, type RunningEndpoint } from './running-endpoints.ts';

// `npm run teardown` says how to delete everything, and what remains; with `--check`, which endpoints are billed. It
// deletes nothing.
const ROOT = path.join(import.meta.dirname, '../../..');

// The CDK accepts both variables, the SDK only the first.
const ownRegion = (): string => {
  const region = process.env.AWS_REGION ?? process.env.AWS_DEFAULT_REGION;
  if (!region) throw new Error('There is no region. Set AWS_REGION to the one that Sluice is deployed in.');
  return region;
};

const explain = async (context: unknown, { name: installation }: Config): Promise<string> => {
  const stacks = await readTemplates(context);
  const client = new CloudFormationClient({ requestHandler: REQUEST_HANDLER, region: ownRegion() });
  const deployed = new Map<string, StackResource[] | undefined>();
  for (const { name } of stacks) deployed.set(name, await listStackResources(client, name));
  const nameOf = ({ stack, logicalId }: Leftover): string | undefined =>
    deployed.get(stack)?.find((resource) => resource.logicalId === logicalId)?.name;
  const missing = [...deployed].filter(([, resources]) => resources === undefined).map(([name]) => name);
  const namesOf = (areProtected: boolean): string =>
    stacks.flatMap(({ name, isProtected }) => (isProtected === areProtected ? [name] : [])).join(' ');
  const remaining = leftoversOf(stacks).flatMap((leftover) => {
    const physical = nameOf(leftover);
    if (physical === undefined) return [];
    const deletion = deletionOf(leftover.type, physical).map((line) => `      ${line}`);
    return [`  ${leftover.stack}: ${leftover.logicalId} (${leftover.type})`, ...deletion];
  });
  return [
    '1. Delete every deployment of your organizations in the control plane. Then nothing of Sluice has a GPU:',
    '      npm run teardown -- --check',
    '',
    '2. Delete what serves requests or bills them, with the settings that you deploy with:',
    `      npx cdk destroy ${namesOf(false)}`,
    ...(missing.length > 0 ? [`   Not deployed: ${missing.join(', ')}.`] : []),
    '',
    '3. These stacks have termination protection. Turn it off and delete them only if their data is not needed any more:',
    `      ${namesOf(true)}`,
    '   Even then, this remains, and its storage is billed, until you delete it:',
    ...(remaining.length > 0
      ? remaining
      : ['  Nothing of a deployed stack. What stacks that were deleted earlier have left is not listed.']),
    '',
    '4. In no stack: the client secrets of identity providers, which are billed, too. Once the tables are deleted, delete each of these:',
    `      aws secretsmanager list-secrets --filters Key=name,Values=${installation}-control/providers/ --query 'SecretList[].Name' --output text`,
    '      aws secretsmanager delete-secret --force-delete-without-recovery --secret-id NAME',
    '   And log groups of API Gateway and of containers. docs/deploy.md has them under "Remove Sluice".',
  ].join('\n');
};

const check = async ({ name, endpointTag, endpointRegions }: Config): Promise<number> => {
  const regions = [...new Set([ownRegion(), ...endpointRegions])];
  const endpoints: RunningEndpoint[] = [];
  for (const region of regions)
    endpoints.push(
      ...(await listRunningEndpoints(new SageMakerClient({ requestHandler: REQUEST_HANDLER, region }), region, { name, endpointTag })),
    );
  console.log(describeEndpoints(endpoints, regions));
  return billedAccelerators(endpoints).length > 0 ? 1 : 0;
};

const USAGE = `npm run teardown -- [options]

Prints the commands that remove an installation, in their order, and what remains and is billed. It deletes nothing itself.

  --check           lists what has GPUs, and fails if anything has
  -c sluice=JSON    settings instead of those of cdk.json
  --profile NAME    the AWS profile
  --help
`;

const OPTIONS = {
  check: { type: 'boolean', default: false },
  context: { type: 'string', short: 'c', multiple: true },
  profile: { type: 'string' },
} as const;

const main = async (flags: readonly string[]): Promise<number> => {
  const { check: isCheck } = readFlags(USAGE, OPTIONS, flags);
  const { context, profile } = readCommandLine(flags, path.join(ROOT, 'cdk.json'));
  if (profile !== undefined) process.env.AWS_PROFILE = profile;
  const config = readConfig(context);
  if (isCheck) return check(config);
  console.log(await explain(context, config));
  return 0;
};

/** Runs a command line. @returns the exit code */
export const teardown = async (flags: readonly string[]): Promise<number> => {
  try {
    return await main(flags);
  } catch (error) {
    console.error(describeFailure(error));
    return 1;
  }
};

if (import.meta.main) process.exitCode = await teardown(process.argv.slice(2));
