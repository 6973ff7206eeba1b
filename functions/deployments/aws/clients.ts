import { ApplicationAutoScalingClient } from '@aws-sdk/client-application-auto-scaling';
import { CloudWatchLogsClient } from '@aws-sdk/client-cloudwatch-logs';
import { S3Client } from '@aws-sdk/client-s3';
import { SageMakerClient } from '@aws-sdk/client-sagemaker';
import { ServiceQuotasClient } from '@aws-sdk/client-service-quotas';
import { NodeHttpHandler } from '@smithy/node-http-handler';

// The first attempt counts, too. The next pass repeats a failed call, so the SDK's retries only cover a short outage.
const MAX_SDK_ATTEMPTS = 2;
const CONNECTION_TIMEOUT_MS = 1_000;
// A pass makes at most about twenty calls for each generation, in the function's 60 s.
const REQUEST_TIMEOUT_MS = 5_000;
// The pass ends an upload before.
const UPLOAD_TIMEOUT_MS = 50_000;
const MAX_SOCKETS = 16;

export interface Clients {
  sageMaker: SageMakerClient;
  autoScaling: ApplicationAutoScalingClient;
  logs: CloudWatchLogsClient;
  s3: S3Client;
  /** For large files: its requests take as long as an upload. */
  s3Files: S3Client;
  serviceQuotas: ServiceQuotasClient;
}

/** The SDK's clients of the services that the function uses, in the region of the environment. */
export const createClients = (): Clients => {
  const optionsFor = (requestTimeout: number) => ({
    maxAttempts: MAX_SDK_ATTEMPTS,
    requestHandler: new NodeHttpHandler({
      connectionTimeout: CONNECTION_TIMEOUT_MS,
      requestTimeout,
      throwOnRequestTimeout: true,
      httpAgent: { keepAlive: true, maxSockets: MAX_SOCKETS },
      httpsAgent: { keepAlive: true, maxSockets: MAX_SOCKETS },
    }),
  });
  const options = optionsFor(REQUEST_TIMEOUT_MS);
  return {
    sageMaker: new SageMakerClient(options),
    autoScaling: new ApplicationAutoScalingClient(options),
    logs: new CloudWatchLogsClient(options),
    s3: new S3Client(options),
    // S3 checks the size; a checksum behind the content would need another form of it.
    s3Files: new S3Client({ ...optionsFor(UPLOAD_TIMEOUT_MS), requestChecksumCalculation: 'WHEN_REQUIRED' }),
    serviceQuotas: new ServiceQuotasClient(options),
  };
};
