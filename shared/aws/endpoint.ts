// By the prefix of a region's name; all others use amazonaws.com (AWS's partitions.json).
const DNS_SUFFIXES: Readonly<Record<string, string>> = {
  'cn-': 'amazonaws.com.cn',
  'eusc-': 'amazonaws.eu',
  'us-iso-': 'c2s.ic.gov',
  'us-isob-': 'sc2s.sgov.gov',
  'us-isof-': 'csp.hci.ic.gov',
  'eu-isoe-': 'cloud.adc-e.uk',
};

/**
 * The services that are called without the SDK: the first label of the host name, the name in signatures, and the
 * variable with another URL.
 */
export const services = {
  dynamodb: { host: 'dynamodb', signingName: 'dynamodb', variable: 'AWS_ENDPOINT_URL_DYNAMODB' },
  lambda: { host: 'lambda', signingName: 'lambda', variable: 'AWS_ENDPOINT_URL_LAMBDA' },
  sagemakerRuntime: { host: 'runtime.sagemaker', signingName: 'sagemaker', variable: 'AWS_ENDPOINT_URL_SAGEMAKER_RUNTIME' },
  tagging: { host: 'tagging', signingName: 'tagging', variable: 'AWS_ENDPOINT_URL_RESOURCE_GROUPS_TAGGING_API' },
  sqs: { host: 'sqs', signingName: 'sqs', variable: 'AWS_ENDPOINT_URL_SQS' },
  s3: { host: 's3', signingName: 's3', variable: 'AWS_ENDPOINT_URL_S3' },
  secretsManager: { host: 'secretsmanager', signingName: 'secretsmanager', variable: 'AWS_ENDPOINT_URL_SECRETS_MANAGER' },
} as const;
export type Service = keyof typeof services;

/** The URL of a service's public endpoint in a region. */
export const regionalEndpoint = (service: Service, region: string): string => {
  const [, suffix = 'amazonaws.com'] = Object.entries(DNS_SUFFIXES).find(([prefix]) => region.startsWith(prefix)) ?? [];
  return `https://${services[service].host}.${region}.${suffix}`;
};

/** The URL to call: the environment's, if it has one, like the SDK's, otherwise the regional endpoint. */
export const endpointOf = (service: Service, region: string): string =>
  process.env[services[service].variable] || process.env.AWS_ENDPOINT_URL || regionalEndpoint(service, region);

/**
 * Where a bucket is: its name is in the host name, or in the path if the environment has another endpoint, as SDKs
 * send it.
 */
export const bucketAddress = (bucket: string, region: string): { endpoint: string; root: string } => {
  const endpoint = process.env[services.s3.variable] || process.env.AWS_ENDPOINT_URL;
  if (endpoint) return { endpoint, root: `/${bucket}/` };
  return { endpoint: regionalEndpoint('s3', region).replace('https://', `https://${bucket}.`), root: '/' };
};
