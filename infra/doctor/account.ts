import { type CloudFormationClient, DescribeStacksCommand } from '@aws-sdk/client-cloudformation';
import type { ServiceQuotasClient } from '@aws-sdk/client-service-quotas';
import { readQuotas } from '../../functions/deployments/validate/quotas.ts';
import type { AccountConcurrency } from '../deploy/account-concurrency.ts';
import { isMissingStack } from '../deploy/stack-resources.ts';
import { failure, ok, type Row, warning } from './row.ts';

/** What a deployment needs at least: one execution for each of its functions, and some for requests. */
const FEW_EXECUTIONS = 100;
const CDK_STACK = 'CDKToolkit';
/** The version of the bootstrap that the CDK of this release needs. */
const MIN_BOOTSTRAP = 6;

/** Lambda's concurrency. A new account has 10 executions, which all functions share. */
export const concurrencyRow = ({ limit, available }: AccountConcurrency, wanted: number): Row => {
  const found = `${limit} executions, of which Sluice can reserve ${available}`;
  const request = 'Request a higher quota for "Concurrent executions" of Lambda in Service Quotas, then deploy again.';
  if (limit < FEW_EXECUTIONS) return warning('Lambda concurrency', found, `Enough for a try, not for users. ${request}`);
  if (available < wanted)
    return warning(
      'Lambda concurrency',
      found,
      `Sluice reserves ${wanted} if there is room: functions now take capacity from each other. ${request}`,
    );
  return ok('Lambda concurrency', found);
};

/** The CDK's own stack, with which `npm run deploy` uploads code. */
export const bootstrapRow = async (client: CloudFormationClient): Promise<Row> => {
  const advice = 'npx cdk bootstrap';
  try {
    const { Stacks } = await client.send(new DescribeStacksCommand({ StackName: CDK_STACK }));
    const version = Number(Stacks?.[0]?.Outputs?.find(({ OutputKey }) => OutputKey === 'BootstrapVersion')?.OutputValue);
    if (version >= MIN_BOOTSTRAP) return ok('CDK bootstrap', `version ${version}`);
    return failure('CDK bootstrap', `version ${version}, but ${MIN_BOOTSTRAP} is needed`, advice);
  } catch (error) {
    if (!isMissingStack(error)) throw error;
    return failure(
      'CDK bootstrap',
      `there is no stack ${CDK_STACK} in this region`,
      `${advice}, unless you bootstrap with a stack of another name.`,
    );
  }
};

const MAX_QUOTA_MS = 30_000;

/** How many instances with a GPU the account can have. A new account can have none of most types. */
export const quotaRow = async (client: ServiceQuotasClient, instanceTypes: readonly string[]): Promise<Row> => {
  const quotas = await readQuotas(client, instanceTypes, new Map(), AbortSignal.timeout(MAX_QUOTA_MS));
  const some = quotas.filter(({ limit }) => limit > 0);
  const found = some.map(({ instance_type, limit }) => `${instance_type}: ${limit}`).join(', ');
  const advice = 'Request "<instance type> for endpoint usage" of SageMaker in Service Quotas. AWS can take days.';
  if (quotas.length === 0)
    return warning('GPU quotas', 'Service Quotas did not answer', 'Look at "for endpoint usage" of SageMaker in Service Quotas.');
  return some.length > 0 ? ok('GPU quotas', found) : warning('GPU quotas', `0 of ${instanceTypes.length} types of the catalogue`, advice);
};
