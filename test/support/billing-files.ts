import { S3Client } from '@aws-sdk/client-s3';
import { createMemoryStore } from '../../infra/local/s3/object-store.ts';
import { startS3 } from '../../infra/local/s3/server.ts';
import { createBillingFiles } from '../../shared/billing/billing-files.ts';

const BUCKET = 'billing-files';

/** The bucket for billing in a separate S3 emulator. */
export const startBillingFiles = async () => {
  const objects = createMemoryStore();
  const s3 = await startS3(new Set([BUCKET]), objects);
  const credentials = { accessKeyId: 'x', secretAccessKey: 'x' };
  const client = new S3Client({ endpoint: s3.url, region: 'us-east-1', credentials, forcePathStyle: true });
  return {
    files: createBillingFiles(client, BUCKET),
    /** The environment of a process that uses the bucket. */
    environment: { AWS_ENDPOINT_URL_S3: s3.url, BILLING_BUCKET: BUCKET },
    /** The keys of all files. */
    keys: async (): Promise<string[]> => (await objects.list(BUCKET)).map(({ key }) => key).sort(),
    /** Changes a file behind the back of the service. */
    tamper: (key: string, content: string): Promise<void> => objects.put(BUCKET, key, Buffer.from(content)),
    close: async (): Promise<void> => {
      client.destroy();
      await s3.close();
    },
  };
};

export type TestBillingFiles = Awaited<ReturnType<typeof startBillingFiles>>;
