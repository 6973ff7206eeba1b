import { gunzipSync } from 'node:zlib';
import { GetObjectCommand, ListObjectsV2Command, S3Client } from '@aws-sdk/client-s3';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { createRecordTable } from '../../../shared/database/record-table.ts';
import { transact } from '../../../shared/database/transaction.ts';
import type { Payload } from '../../../shared/payload-log/payload.ts';
import { PATTERNS } from '../../../shared/payload-log/settings.ts';
import { createPayloadLogStore } from '../../../shared/payload-log/settings-store.ts';
import { HOSTS, type HostRun, startHostRun } from '../../support/clients/hosts.ts';
import { eventually } from '../../support/eventually.ts';

const ORGANIZATION = 'org_test';

describe.each(HOSTS)('content of more than 64 KB on the %s host', (name) => {
  let run: HostRun;
  let s3: S3Client;
  beforeAll(async () => {
    run = await startHostRun(name);
    const credentials = { accessKeyId: 'a', secretAccessKey: 'b' };
    s3 = new S3Client({ endpoint: run.s3_endpoint, region: 'us-east-1', credentials, forcePathStyle: true });
    const store = createPayloadLogStore(createRecordTable(run.database, run.tables.Observability as string));
    const settings = { enabled: true, retention_days: 1 as const, patterns: [...PATTERNS], paths: [], tool_arguments: 'redact' as const };
    const version = (await store.get({ organization: ORGANIZATION }))?.version;
    const saved = { ...settings, updated_at: 0, updated_by: 'user_1', pending: false };
    await transact(run.database, [store.toSave({ organization: ORGANIZATION }, saved, version)]);
  });
  afterAll(async () => {
    s3.destroy();
    await run.close();
  });

  const keysWith = async (id: string): Promise<string[]> => {
    const { Contents = [] } = await s3.send(new ListObjectsV2Command({ Bucket: run.buckets.Payloads }));
    return Contents.map(({ Key = '' }) => Key).filter((key) => key.includes(id));
  };

  test('is redacted by the function payloads after the reply, and nothing of it waits anywhere then', async () => {
    const { secret } = await run.createKey({ payload_log: true });
    const response = await fetch(`${run.base_url}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${secret}`, 'content-type': 'application/json', ...run.host.headers },
      body: JSON.stringify({
        model: run.model,
        max_tokens: 4,
        prompt_truncate_len: 200,
        messages: [
          { role: 'user', content: `${'word '.repeat(20_000)} ann@b.example` },
          { role: 'assistant', content: 'Yes.' },
          { role: 'user', content: 'Go on.' },
        ],
      }),
    });
    expect(response.status).toBe(200);
    const id = response.headers.get('x-request-id') as string;
    const key = `${ORGANIZATION}/${id}.json.gz`;
    await eventually(async () => (await keysWith(id)).join() === key, 'the payload is written, and what waited is deleted');
    const { Body } = await s3.send(new GetObjectCommand({ Bucket: run.buckets.Payloads, Key: key }));
    const payload: Payload = JSON.parse(gunzipSync((await Body?.transformToByteArray()) ?? new Uint8Array()).toString());
    expect(payload).toMatchObject({
      request_id: id,
      request: { is_truncated: false },
      response: { status: 200 },
      redactions: { email: 1 },
    });
    expect(await run.logOf('payloads')).not.toContain('queued_payload_failed');
  });
});
