import { type CloudFormationClient, DescribeStacksCommand } from '@aws-sdk/client-cloudformation';
import { isMissingStack } from '../deploy/stack-resources.ts';
import { failure, ok, type Row, skipped, warning } from './row.ts';

/** A stack that is deployed, with its outputs. */
export interface DeployedStack {
  status: string;
  outputs: ReadonlyMap<string, string>;
}

/** The deployed ones of these stacks, by name. */
export const readStacks = async (client: CloudFormationClient, names: readonly string[]): Promise<Map<string, DeployedStack>> => {
  const deployed = new Map<string, DeployedStack>();
  for (const name of names)
    try {
      const { Stacks = [] } = await client.send(new DescribeStacksCommand({ StackName: name }));
      for (const { StackStatus: status = '', Outputs = [] } of Stacks) {
        const outputs = new Map(Outputs.map(({ OutputKey = '', OutputValue = '' }) => [OutputKey, OutputValue]));
        deployed.set(name, { status, outputs });
      }
    } catch (error) {
      if (!isMissingStack(error)) throw error;
    }
  return deployed;
};

const COMPLETE = /^(CREATE|UPDATE|IMPORT)_COMPLETE$/;
const IN_PROGRESS = /_IN_PROGRESS$/;

/** Checks that all stacks are deployed. */
export const stacksRow = (names: readonly string[], deployed: ReadonlyMap<string, DeployedStack>): Row => {
  const missing = names.filter((name) => !deployed.has(name));
  const statusOf = ([name, { status }]: [string, DeployedStack]): string => `${name} is ${status}`;
  const broken = [...deployed].filter(([, { status }]) => !COMPLETE.test(status) && !IN_PROGRESS.test(status));
  const working = [...deployed].filter(([, { status }]) => IN_PROGRESS.test(status));
  if (deployed.size === 0) return skipped('stacks', 'nothing is deployed', 'npm run deploy');
  if (broken.length > 0)
    return failure('stacks', broken.map(statusOf).join(', '), 'Look at the events of the stack in CloudFormation, then npm run deploy.');
  if (missing.length > 0)
    return failure('stacks', `not deployed: ${missing.join(', ')}`, 'npm run deploy, with the settings that you deploy with.');
  if (working.length > 0) return warning('stacks', working.map(statusOf).join(', '), 'Wait for the deployment to end.');
  return ok('stacks', `${names.length} deployed`);
};

/** The release that the control plane says it is. @param baseUrl of its API, which ends with the API's version */
export const releaseRow = async (baseUrl: string, version: string): Promise<Row> => {
  const url = baseUrl.replace(/\/v1$/, '/version');
  const response = await fetch(url, { signal: AbortSignal.timeout(15_000) });
  const text = await response.text();
  if (!response.ok) return failure('release', `${url}: ${response.status}`, 'Look at the alarms and at the log of the control plane.');
  const { version: deployed } = JSON.parse(text) as { version: string };
  if (deployed === version) return ok('release', version);
  return warning('release', `${deployed} is deployed, and this is ${version}`, 'npm run deploy, or use the commands of that release.');
};
