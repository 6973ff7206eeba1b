import { type CloudFormationClient, DescribeStacksCommand } from '@aws-sdk/client-cloudformation';
import { GetAWSDefaultServiceQuotaCommand, GetServiceQuotaCommand, type ServiceQuotasClient } from '@aws-sdk/client-service-quotas';
import { readQuotas } from '../../../functions/deployments/validate/quotas.ts';
import type { AccountConcurrency } from '../deploy/account-concurrency.ts';
import { isMissingStack } from '../deploy/stack-resources.ts';
import { failure, ok, type Row, warning } from './row.ts';

// A deployment needs at least an execution for each function, and some for requests.
const MIN_EXECUTIONS = 100;
const CDK_STACK = 'CDKToolkit';
// The CDK of this release needs this version of its bootstrap stack.
const MIN_BOOTSTRAP = 6;

/** Lambda's concurrency. A new account has 10 executions, which all functions share. */
export const concurrencyRow = ({ limit, available }: AccountConcurrency, wanted: number): Row => {
  const found = `${limit} executions, of which Sluice can reserve ${available}`;
  const request = 'Request a higher quota for "Concurrent executions" of Lambda in Service Quotas, then deploy again.';
  if (limit < MIN_EXECUTIONS) return warning('Lambda concurrency', found, `Enough for a try, not for users. ${request}`);
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

// The quota of requests a second of all APIs of an account in a region.
const REQUEST_QUOTA = { ServiceCode: 'apigateway', QuotaCode: 'L-8A5B8E43' };

// An account without a quota of its own has the region's default.
const readRequestQuota = async (client: ServiceQuotasClient): Promise<number> => {
  try {
    const { Quota } = await client.send(new GetServiceQuotaCommand(REQUEST_QUOTA));
    return Quota?.Value ?? 0;
  } catch (error) {
    if ((error as { name?: string }).name !== 'NoSuchResourceException') throw error;
    const { Quota } = await client.send(new GetAWSDefaultServiceQuotaCommand(REQUEST_QUOTA));
    return Quota?.Value ?? 0;
  }
};

/**
 * Compares API Gateway's quota with the throttles of all hosts together. Some regions have a quarter of the usual
 * quota.
 * @param wanted by the throttles
 */
export const requestQuotaRow = async (client: ServiceQuotasClient, wanted: number): Promise<Row> => {
  const quota = await readRequestQuota(client);
  const found = `${quota} requests a second, of which the hosts let through ${wanted}`;
  if (wanted <= quota) return ok('API Gateway quota', found);
  return warning(
    'API Gateway quota',
    found,
    'Load on one host can use up the limit of the others. Lower requestsPerSecond and burst of the hosts, or request a higher throttle rate of API Gateway in Service Quotas.',
  );
};
