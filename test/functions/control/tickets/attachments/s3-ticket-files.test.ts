import { createServer } from 'node:http';
import { S3Client } from '@aws-sdk/client-s3';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { createS3TicketFiles } from '../../../../../functions/control/tickets/attachments/s3-ticket-files.ts';
import { closeServer, listen } from '../../../../../infra/local/http/listen.ts';
import { BUCKET, startTicketBucket, type TicketBucket } from '../ticket-bucket.ts';

const FILE = { contentType: 'text/plain', bytes: 3 };
const NOW_MS = Date.UTC(2026, 10, 1);
const [FROM, TO] = ['pending/a', 'kept/a'];

let bucket: TicketBucket;
beforeAll(async () => {
  bucket = await startTicketBucket();
});
afterAll(() => bucket.close());
beforeEach(async () => {
  for (const key of await bucket.keys()) await bucket.objects.delete(BUCKET, key);
});

const put = (key: string, content: string, type = FILE.contentType): Promise<void> =>
  bucket.objects.put(BUCKET, key, Buffer.from(content), { 'content-type': type });
const contentOf = async (key: string): Promise<string> => String(await bucket.objects.get(BUCKET, key));

// Acts right before the client sends a request of this kind.
const clientBefore = (command: string, act: () => Promise<unknown>): S3Client => {
  const client = new S3Client({ endpoint: bucket.url });
  client.middlewareStack.add(
    (next, { commandName }) =>
      async (request) => {
        if (commandName === command) await act();
        return next(request);
      },
    { step: 'finalizeRequest' },
  );
  return client;
};

describe('keeping a file', () => {
  test('copies it once: a later upload does not replace the copy', async () => {
    await put(FROM, 'one');
    expect(await bucket.files.keep(FROM, TO, FILE)).toBe(true);
    await put(FROM, 'two');
    expect(await bucket.files.keep(FROM, TO, FILE)).toBe(true);
    expect(await contentOf(TO)).toBe('one');
  });

  test('fails if the upload is replaced after it was looked at', async () => {
    await put(FROM, 'one');
    const client = clientBefore('CopyObjectCommand', () => put(FROM, 'two', 'text/html'));
    expect(await createS3TicketFiles(BUCKET, client).keep(FROM, TO, FILE)).toBe(false);
    expect(await bucket.keys()).toEqual([FROM]);
  });

  test('accepts the copy that another request has just made', async () => {
    await put(FROM, 'one');
    const client = clientBefore('CopyObjectCommand', () => put(TO, 'one'));
    expect(await createS3TicketFiles(BUCKET, client).keep(FROM, TO, FILE)).toBe(true);
  });

  test('fails if there is no upload, also where S3 answers 403 instead of 404', async () => {
    expect(await bucket.files.keep(FROM, TO, FILE)).toBe(false);
    const server = createServer((_request, response) => response.writeHead(403).end());
    const client = new S3Client({ endpoint: await listen(server, 0) });
    expect(await createS3TicketFiles(BUCKET, client).keep(FROM, TO, FILE)).toBe(false);
    client.destroy();
    await closeServer(server);
  });

  test('throws if S3 fails', async () => {
    const server = createServer((_request, response) => response.writeHead(500).end());
    const client = new S3Client({ endpoint: await listen(server, 0), maxAttempts: 1 });
    await expect(createS3TicketFiles(BUCKET, client).keep(FROM, TO, FILE)).rejects.toThrow();
    client.destroy();
    await closeServer(server);
  });
});

test('on AWS, a form goes to the bucket’s own host', async () => {
  const { AWS_ENDPOINT_URL_S3 } = process.env;
  try {
    delete process.env.AWS_ENDPOINT_URL_S3;
    const { url } = await bucket.files.signUpload(FROM, FILE, NOW_MS);
    expect(url).toBe(`https://${BUCKET}.s3.us-east-1.amazonaws.com/`);
  } finally {
    process.env.AWS_ENDPOINT_URL_S3 = AWS_ENDPOINT_URL_S3;
  }
});
