import { mkdtempSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { type SageMakerEmulator, startSageMaker } from '../../../infra/local/sagemaker/server.ts';
import { createClientSecrets } from '../../../shared/single-sign-on/client-secrets.ts';

const file = path.join(mkdtempSync(path.join(tmpdir(), 'secrets-')), 'secrets.json');
const saved = { ...process.env };
let emulator: SageMakerEmulator;

beforeAll(async () => {
  emulator = await startSageMaker(new Map(), { secretsFile: file });
  Object.assign(process.env, {
    AWS_ENDPOINT_URL_SECRETS_MANAGER: emulator.url,
    AWS_REGION: 'us-east-1',
    AWS_ACCESS_KEY_ID: 'test',
    AWS_SECRET_ACCESS_KEY: 'test',
  });
});
afterAll(async () => {
  process.env = saved;
  await emulator.close();
});

describe('createClientSecrets', () => {
  test('stores a secret, and reads the version that the row names', async () => {
    const secrets = createClientSecrets('sluice/');
    const first = await secrets.put('idp_1', 'one');
    const second = await secrets.put('idp_1', 'two');
    // A row that names the first version keeps working, whatever was written after it.
    expect(await createClientSecrets('sluice/').read({ id: 'idp_1', client_secret_version: first })).toBe('one');
    expect(await secrets.read({ id: 'idp_1', client_secret_version: second })).toBe('two');
    expect(Object.keys(JSON.parse(readFileSync(file, 'utf8')))).toEqual(['sluice/idp_1']);
  });

  test('finds nothing for a public client, and for a secret that was deleted', async () => {
    const secrets = createClientSecrets('sluice/');
    expect(await secrets.read({ id: 'idp_2', client_secret_version: null })).toBeUndefined();
    const version = await secrets.put('idp_2', 'gone');
    await secrets.delete('idp_2');
    await secrets.delete('idp_2');
    expect(await secrets.read({ id: 'idp_2', client_secret_version: version })).toBeUndefined();
  });
});
