import { CloudFormationClient } from '@aws-sdk/client-cloudformation';
import { GetAccountSettingsCommand, GetFunctionConcurrencyCommand, LambdaClient } from '@aws-sdk/client-lambda';
import { REQUEST_HANDLER } from '../aws-timeouts.ts';
import { listStackResources } from './stack-resources.ts';

// Lambda keeps these for functions without a reservation, and rejects a reservation beyond the rest.
const ALWAYS_UNRESERVED = 100;

export interface AccountConcurrency {
  /** How many executions the account can have at the same time in this region. */
  limit: number;
  /** How many of them these stacks can reserve in total, including what they have reserved already. */
  available: number;
}

/**
 * Asks Lambda how much concurrency an account has for these stacks. They may not exist yet.
 * @throws the SDK's errors, for example if credentials, a region or a permission are missing
 */
export const readAccountConcurrency = async (stacks: readonly string[]): Promise<AccountConcurrency> => {
  // The CDK accepts both variables, the SDK only the first.
  const region = process.env.AWS_REGION ?? process.env.AWS_DEFAULT_REGION;
  const options = { requestHandler: REQUEST_HANDLER, ...(region && { region }) };
  const lambda = new LambdaClient(options);
  const cloudFormation = new CloudFormationClient(options);
  const { AccountLimit } = await lambda.send(new GetAccountSettingsCommand());
  const { ConcurrentExecutions: limit = 0, UnreservedConcurrentExecutions: unreserved = 0 } = AccountLimit ?? {};
  let held = 0;
  for (const stack of stacks) {
    for (const name of await functionsOf(cloudFormation, stack)) {
      const { ReservedConcurrentExecutions = 0 } = await lambda.send(new GetFunctionConcurrencyCommand({ FunctionName: name }));
      held += ReservedConcurrentExecutions;
    }
  }
  return { limit, available: Math.max(0, unreserved + held - ALWAYS_UNRESERVED) };
};

// A stack that doesn't exist has none.
const functionsOf = async (client: CloudFormationClient, stack: string): Promise<string[]> =>
  ((await listStackResources(client, stack)) ?? []).flatMap(({ type, name }) => (type === 'AWS::Lambda::Function' ? [name] : []));
