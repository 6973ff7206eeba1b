import { SECOND_MS } from '../../../shared/time/units.ts';
import type { LambdaFunction } from '../../assembly/local-app.ts';
import { REGION } from '../../assembly/resolve.ts';
import { LOCAL_KEYS } from '../s3/server.ts';
import { accessKeyIdOf } from './access-key-id.ts';

/** URLs of the emulators. */
export interface Endpoints {
  dynamodbUrl: string;
  /** Also of Application Auto Scaling, CloudWatch Logs, Service Quotas and Secrets Manager. */
  sagemakerUrl: string;
  s3Url: string;
  /** Lambda's Invoke API. */
  lambdaUrl: string;
  sqsUrl: string;
  sesUrl: string;
  /** null: the app has no user pool. */
  cognitoUrl: string | null;
}

/** URLs of the hosts; null for a host that the app does not have. */
export interface Hosts {
  serverless: string;
  ondemand: string | null;
  control: string | null;
}

// The deployed URL of the other inference host becomes its local URL.
const otherHost = ({ environment: { HOST_SCOPE: scope } }: LambdaFunction, hosts?: Hosts): Record<string, string> => {
  const url = scope === undefined ? undefined : scope === 'on_demand' ? hosts?.serverless : hosts?.ondemand;
  return url ? { OTHER_HOST_URL: url } : {};
};

// Browsers are redirected to it.
const controlHost = ({ environment: { CONTROL_URL: deployed } }: LambdaFunction, hosts?: Hosts): Record<string, string> =>
  deployed !== undefined && hosts?.control ? { CONTROL_URL: hosts.control } : {};

// The console calls both inference hosts.
const inferenceHosts = ({ environment: { ONDEMAND_URL: deployed } }: LambdaFunction, hosts?: Hosts): Record<string, string> =>
  deployed !== undefined && hosts?.ondemand ? { SERVERLESS_URL: hosts.serverless, ONDEMAND_URL: hosts.ondemand } : {};

// With a shorter batching window than the template's, usage is known sooner.
const usageLag = ({ environment: { USAGE_LAG_SECONDS: deployed } }: LambdaFunction, batchWindowMs: number): Record<string, string> => {
  const seconds = Math.ceil(batchWindowMs / SECOND_MS) + PROCESSING_SECONDS;
  return deployed === undefined ? {} : { USAGE_LAG_SECONDS: String(Math.min(Number(deployed), seconds)) };
};
const PROCESSING_SECONDS = 2;

// The developer's own machine, whose receivers of webhooks would not be public.
const LOOPBACK = ['127.0.0.0/8', '::1/128'];

const allowedNetworks = ({ environment: { ALLOWED_NETWORKS: deployed } }: LambdaFunction): Record<string, string> =>
  deployed === undefined ? {} : { ALLOWED_NETWORKS: [...deployed.split(',').filter(Boolean), ...LOOPBACK].join(',') };

/**
 * Builds the environment of a function process: Lambda's variables, the template's and the emulators' URLs. Nothing
 * is inherited.
 * @param hosts URLs of the local hosts, for functions with HOST_SCOPE or CONTROL_URL
 * @param batchWindowMs the longest batching window of event sources
 */
export const functionVariables = (
  fn: LambdaFunction,
  { dynamodbUrl, sagemakerUrl, s3Url, lambdaUrl, sqsUrl, sesUrl, cognitoUrl }: Endpoints,
  hosts?: Hosts,
  batchWindowMs = Number.POSITIVE_INFINITY,
): Record<string, string> => ({
  AWS_ACCESS_KEY_ID: accessKeyIdOf(fn),
  AWS_SECRET_ACCESS_KEY: LOCAL_KEYS.secretAccessKey,
  AWS_CONFIG_FILE: '/dev/null',
  AWS_SHARED_CREDENTIALS_FILE: '/dev/null',
  AWS_REGION: REGION,
  AWS_DEFAULT_REGION: REGION,
  AWS_EXECUTION_ENV: 'AWS_Lambda_nodejs24.x',
  AWS_ENDPOINT_URL_DYNAMODB: dynamodbUrl,
  AWS_ENDPOINT_URL_SAGEMAKER: sagemakerUrl,
  AWS_ENDPOINT_URL_SAGEMAKER_RUNTIME: sagemakerUrl,
  AWS_ENDPOINT_URL_APPLICATION_AUTO_SCALING: sagemakerUrl,
  AWS_ENDPOINT_URL_CLOUDWATCH_LOGS: sagemakerUrl,
  AWS_ENDPOINT_URL_SERVICE_QUOTAS: sagemakerUrl,
  AWS_ENDPOINT_URL_SECRETS_MANAGER: sagemakerUrl,
  AWS_ENDPOINT_URL_RESOURCE_GROUPS_TAGGING_API: sagemakerUrl,
  AWS_ENDPOINT_URL_S3: s3Url,
  AWS_ENDPOINT_URL_LAMBDA: lambdaUrl,
  AWS_ENDPOINT_URL_SQS: sqsUrl,
  AWS_ENDPOINT_URL_SESV2: sesUrl,
  ...(cognitoUrl !== null && { AWS_ENDPOINT_URL_COGNITO_IDENTITY_PROVIDER: cognitoUrl }),
  AWS_LAMBDA_FUNCTION_NAME: fn.name,
  AWS_LAMBDA_FUNCTION_MEMORY_SIZE: String(fn.memoryMiB),
  AWS_LAMBDA_FUNCTION_VERSION: '$LATEST',
  AWS_LAMBDA_LOG_GROUP_NAME: `/aws/lambda/${fn.name}`,
  AWS_LAMBDA_LOG_STREAM_NAME: 'local',
  LAMBDA_TASK_ROOT: fn.folder,
  LANG: 'en_US.UTF-8',
  PATH: '/usr/local/bin:/usr/bin:/bin',
  TZ: 'UTC',
  _HANDLER: fn.handler,
  ...fn.environment,
  ...otherHost(fn, hosts),
  ...controlHost(fn, hosts),
  ...inferenceHosts(fn, hosts),
  ...usageLag(fn, batchWindowMs),
  ...allowedNetworks(fn),
  // Tests prove with a DNS server of their own that a domain belongs to an organization.
  ...(process.env.SLUICE_DNS_SERVERS && { DNS_SERVERS: process.env.SLUICE_DNS_SERVERS }),
});
