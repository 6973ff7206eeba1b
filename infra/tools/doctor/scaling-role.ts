import type { AwsCredentials } from '../../../shared/aws/credentials.ts';
import { createSigner } from '../../../shared/aws/signer.ts';
import { ok, type Row, warning } from './row.ts';

const CHECK = 'scaling role';
const ROLE = 'AWSServiceRoleForApplicationAutoScaling_SageMakerEndpoint';
const SERVICE = 'sagemaker.application-autoscaling.amazonaws.com';
const TIMEOUT_MS = 15_000;

// IAM has one endpoint in each partition, in this region.
const PARTITIONS = [
  { prefix: 'us-gov-', endpoint: 'https://iam.us-gov.amazonaws.com', region: 'us-gov-west-1' },
  { prefix: 'cn-', endpoint: 'https://iam.cn-north-1.amazonaws.com.cn', region: 'cn-north-1' },
  { prefix: '', endpoint: 'https://iam.amazonaws.com', region: 'us-east-1' },
] as const;

// IAM's GetRole: https://docs.aws.amazon.com/IAM/latest/APIReference/API_GetRole.html
const getRole = async (credentials: AwsCredentials, region: string): Promise<{ status: number; text: string }> => {
  const partition = PARTITIONS.find(({ prefix }) => region.startsWith(prefix)) ?? PARTITIONS[2];
  const url = new URL(process.env.AWS_ENDPOINT_URL_IAM || process.env.AWS_ENDPOINT_URL || partition.endpoint);
  const body = new URLSearchParams({ Action: 'GetRole', RoleName: ROLE, Version: '2010-05-08' }).toString();
  const headers = [
    ['content-type', 'application/x-www-form-urlencoded'],
    ['host', url.host],
  ] as const;
  const sign = createSigner({ service: 'iam', region: partition.region });
  const added = sign({ method: 'POST', path: '/', headers, body }, credentials, Date.now());
  const signature = added.flatMap((name, i) => (i % 2 === 0 ? [[name, added[i + 1] ?? ''] as [string, string]] : []));
  const response = await fetch(new URL('/', url), {
    method: 'POST',
    headers: [['content-type', 'application/x-www-form-urlencoded'], ...signature],
    body,
    signal: AbortSignal.timeout(TIMEOUT_MS),
  });
  return { status: response.status, text: await response.text() };
};

const textOf = (element: string, xml: string): string => new RegExp(`<${element}>([^<]*)</${element}>`).exec(xml)?.[1] ?? '';

/**
 * Checks that Application Auto Scaling has the role with which it scales deployments.
 * @throws Error with IAM's message
 */
export const scalingRoleRow = async (credentials: AwsCredentials, region: string): Promise<Row> => {
  const { status, text } = await getRole(credentials, region);
  if (status === 200) return ok(CHECK, 'exists');
  const code = textOf('Code', text);
  if (code === 'NoSuchEntity')
    return warning(
      CHECK,
      `there is no ${ROLE}`,
      `The first deployment creates it, unless a policy of your organization denies that. Create it now: aws iam create-service-linked-role --aws-service-name ${SERVICE}`,
    );
  throw new Error(`${code || status}: ${textOf('Message', text)}`);
};
