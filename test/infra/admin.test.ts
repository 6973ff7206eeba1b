import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { authenticate } from '../../shared/keys/admit.ts';
import { type PresentedKey, parseSecret } from '../../shared/keys/secret.ts';
import { SERVERLESS_POOL } from '../../shared/models/model-store.ts';
import { makeCaller } from '../support/callers.ts';
import { startTestDatabase, type TestDatabase } from '../support/database.ts';

let database: TestDatabase;
let folder: string;
beforeAll(async () => {
  database = await startTestDatabase();
  folder = mkdtempSync(path.join(tmpdir(), 'sluice-admin-'));
});
afterAll(async () => {
  await database.close();
  rmSync(folder, { recursive: true, force: true });
});

/** `npm run admin` against the test's tables. */
const admin = async (...args: string[]): Promise<{ code: number; stdout: string; stderr: string }> => {
  const { Keys: KEYS_TABLE, Models: MODELS_TABLE } = database.tables;
  const env = {
    AWS_REGION: 'us-east-1',
    AWS_ACCESS_KEY_ID: 'x',
    AWS_SECRET_ACCESS_KEY: 'x',
    AWS_ENDPOINT_URL_DYNAMODB: database.url,
    KEYS_TABLE,
    MODELS_TABLE,
  };
  try {
    return {
      code: 0,
      ...(await promisify(execFile)(process.execPath, [path.join(import.meta.dirname, '../../infra/admin/main.ts'), ...args], { env })),
    };
  } catch (error) {
    return error as { code: number; stdout: string; stderr: string };
  }
};

describe('npm run admin', () => {
  test('creates a key that opens, with the limits that were asked for, and prints its secret', async () => {
    const { stdout } = await admin(
      'create-key',
      '--org',
      'org_1',
      '--requests-per-minute',
      '60',
      '--models',
      'a,b',
      '--expires',
      '2099-01-01',
    );
    const key = parseSecret(stdout.trim().split('\n').at(-1) as string) as PresentedKey;
    expect(await authenticate(makeCaller(database.limiters, Date.now), key)).toMatchObject({
      org: 'org_1',
      lim_r: 60,
      lim_t: 200_000,
      lim_c: 32,
      models: ['a', 'b'],
      expires_at: Date.UTC(2099, 0, 1),
    });
  });

  test('publishes a model from a file', async () => {
    const file = path.join(folder, 'model.json');
    const prices = [{ version: 'p1', effective_at: 0, prompt_nanos: 1, completion_nanos: 2 }];
    const model = { name: 'm', context_length: 10, max_output_tokens: 5, default_output_tokens: 5, targets: [{ endpoint: 'e' }], prices };
    writeFileSync(file, JSON.stringify(model));
    expect((await admin('publish-model', '--file', file)).stdout).toContain('Published m');

    const write = (changed: object[]) => writeFileSync(file, JSON.stringify({ ...model, prices: changed }));
    write([{ ...prices[0], prompt_nanos: 9 }]);
    expect((await admin('publish-model', '--file', file)).stderr).toContain('keep p1 as published');
    write([{ ...prices[0], effective_at: Date.now() + 1e9 }]);
    expect((await admin('publish-model', '--file', file)).stderr).toContain('no price whose effective_at has come');
    write([...prices, { version: 'p2', effective_at: 5, prompt_nanos: 3, completion_nanos: 4 }]);
    expect((await admin('publish-model', '--file', file)).code).toBe(0);
    expect((await database.models.list(SERVERLESS_POOL)).get('m')).toMatchObject({
      status: 'published',
      prices: [prices[0], { version: 'p2' }],
    });
  });

  test.each([
    [[], /command is missing/],
    [['destroy'], /no command 'destroy'/],
    [['create-key'], /org/],
    [['create-key', '--org', 'o', '--concurrency', 'many'], /concurrency/],
    [['create-key', '--nonsense'], /--nonsense/],
    [['publish-model', '--file', '/nowhere.json'], /cannot be read/],
  ])('%j is refused with the usage', async (args, message) => {
    const { code, stderr } = await admin(...args);
    expect(code).toBe(1);
    expect(stderr).toMatch(message);
    expect(stderr).toContain('Usage: npm run admin');
  });
});
