import { readFileSync } from 'node:fs';
import path from 'node:path';
import * as z from 'zod';
import { SupportPromise } from '../../../shared/tickets/clocks.ts';
import { readConfig } from '../../config/config.ts';
import { organizationConcurrencyOf } from '../../config/shares.ts';
import { readCommandLine } from '../deploy/command-line.ts';
import { UsageError } from './usage.ts';

const REGION = 'us-east-1';
const CDK_JSON = path.join(import.meta.dirname, '../../../cdk.json');

const LocalFacts = z.object({
  dynamodb_endpoint: z.string(),
  s3_endpoint: z.string(),
  sagemaker_url: z.string(),
  cognito_endpoint: z.string(),
  tables: z.record(z.string(), z.string()),
  buckets: z.record(z.string(), z.string()),
  user_pools: z.object({ Users: z.object({ id: z.string(), client_id: z.string() }) }),
});

const readLocalFacts = (stateFolder: string): z.output<typeof LocalFacts> => {
  try {
    return LocalFacts.parse(JSON.parse(readFileSync(path.join(stateFolder, 'local.json'), 'utf8')));
  } catch {
    throw new UsageError(
      `No local run has written ${stateFolder}/local.json. Start one with 'npm start', and call this from the same folder.`,
    );
  }
};

// `BillingFiles` and `_BUCKET` are `BILLING_FILES_BUCKET`.
const variablesOf = (names: Readonly<Record<string, string>>, ending: string): [string, string][] =>
  Object.entries(names).map(([name, value]) => [`${name.replace(/(?<=[a-z])(?=[A-Z])/g, '_').toUpperCase()}${ending}`, value]);

/** Sets the environment variables by which the commands find a local run's emulators, tables and buckets. */
export const useLocalRun = (stateFolder: string): void => {
  const facts = readLocalFacts(stateFolder);
  const { id, client_id } = facts.user_pools.Users;
  // The local run is synthesized with the settings of cdk.json.
  const config = readConfig(readCommandLine([], CDK_JSON).context);
  Object.assign(process.env, {
    AWS_ACCESS_KEY_ID: 'local',
    AWS_SECRET_ACCESS_KEY: 'local',
    AWS_REGION: REGION,
    AWS_ENDPOINT_URL_DYNAMODB: facts.dynamodb_endpoint,
    AWS_ENDPOINT_URL_S3: facts.s3_endpoint,
    AWS_ENDPOINT_URL_COGNITO_IDENTITY_PROVIDER: facts.cognito_endpoint,
    AWS_ENDPOINT_URL_CLOUDWATCH_LOGS: facts.sagemaker_url,
    AWS_ENDPOINT_URL_SECRETS_MANAGER: facts.sagemaker_url,
    ...Object.fromEntries([...variablesOf(facts.tables, '_TABLE'), ...variablesOf(facts.buckets, '_BUCKET')]),
    BILLING_BUCKET: facts.buckets.BillingFiles,
    USER_POOL_ID: id,
    USER_POOL_CLIENT_ID: client_id,
    TOKEN_ISSUER: `https://cognito-idp.${REGION}.amazonaws.com/${id}`,
    SUPPORT_PROMISE: JSON.stringify(config.support?.promise ?? SupportPromise.parse({})),
    ORGANIZATION_CONCURRENCY: String(organizationConcurrencyOf(config)),
  });
};
