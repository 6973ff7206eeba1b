import { PutObjectCommand, S3Client } from '@aws-sdk/client-s3';
import { controlOf } from '../../support/clients/control.ts';
import { startTestRun, type TestRun } from '../../support/clients/local-run.ts';
import { shareInSuite } from '../../support/clients/suite-run.ts';

const INSTANCE_TYPE = 'ml.g5.xlarge';

// How long each transition of a deployment takes.
interface TransitionTimes {
  instance_ms?: number;
  update_ms?: number;
  download_ms?: number;
  load_ms?: number;
  release_ms?: number;
}

const start = async () => {
  const run = await startTestRun('--queue-delay-ms', '500', '--batch-window-ms', '1000', '--schedule-ms', '4000');
  const control = controlOf(run);
  const { token } = await control.asAdmin();
  await control.done('POST', `/v1/instance-types/${INSTANCE_TYPE}/prices`, { token, body: { per_hour: '1.41' } });
  return { run, control };
};

/** A local run for all parts of the suite, with a price for the instances of deployments. */
export const deploymentRun = shareInSuite(start, ({ run }) => run.close());

/** Sets how transitions of deployments go from now on. */
export const setTransitions = (run: TestRun, times: TransitionTimes, faults: readonly object[] = []): Promise<Response> =>
  fetch(`${run.sagemaker_url}/control/deployments`, { method: 'PUT', body: JSON.stringify({ times, faults }) });

/** Uploads weights for an organization. @returns the fields of a deployment that serves them */
export const uploadWeights = async (run: TestRun, organization: string) => {
  const credentials = { accessKeyId: 'local', secretAccessKey: 'local' };
  const s3 = new S3Client({ region: 'us-east-1', endpoint: run.s3_endpoint, forcePathStyle: true, credentials });
  await s3.send(new PutObjectCommand({ Bucket: run.buckets.Weights, Key: `${organization}/tiny/config.json`, Body: '{}' }));
  s3.destroy();
  return {
    model: `s3://${run.buckets.Weights}/${organization}/tiny/`,
    runtime: 'vllm-0.27.1',
    instance_types: [INSTANCE_TYPE],
  };
};
