import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { createMemoryStore } from '../../infra/local/s3/object-store.ts';
import { type S3Emulator, startS3 } from '../../infra/local/s3/server.ts';
import { authenticate } from '../../shared/keys/admit.ts';
import { type PresentedKey, parseSecret } from '../../shared/keys/secret.ts';
import type { TokenizerFiles } from '../../shared/models/model.ts';
import { SERVERLESS_POOL } from '../../shared/models/model-store.ts';
import { makeCaller } from '../support/callers.ts';
import { startTestDatabase, type TestDatabase } from '../support/database.ts';

let database: TestDatabase;
let folder: string;
let s3: S3Emulator;
const objects = createMemoryStore();
const BUCKET = 'tokenizers';
beforeAll(async () => {
  database = await startTestDatabase();
  s3 = await startS3(new Set([BUCKET]), objects);
  folder = mkdtempSync(path.join(tmpdir(), 'sluice-admin-'));
});
afterAll(async () => {
  await database.close();
  await s3.close();
  rmSync(folder, { recursive: true, force: true });
});

/** `npm run admin` against the test's tables and bucket. */
const admin = async (...args: string[]): Promise<{ code: number; stdout: string; stderr: string }> => {
  const { Keys: KEYS_TABLE, Models: MODELS_TABLE } = database.tables;
  const env = {
    AWS_REGION: 'us-east-1',
    AWS_ACCESS_KEY_ID: 'x',
    AWS_SECRET_ACCESS_KEY: 'x',
    AWS_ENDPOINT_URL_DYNAMODB: database.url,
    AWS_ENDPOINT_URL_S3: s3.url,
    TOKENIZERS_BUCKET: BUCKET,
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

  describe('publishes a model with its own files', () => {
    const CONTAINER = path.join(import.meta.dirname, '../../infra/container');
    const tokenizer = path.join(CONTAINER, 'tokenizer.json');
    const prices = [{ version: 'p1', effective_at: 0, prompt_nanos: 1, completion_nanos: 2 }];
    const targets = [{ endpoint: 'a', weight: 3 }, { endpoint: 'b' }];
    const sizes = { context_length: 10, max_output_tokens: 5, default_output_tokens: 5 };
    const write = (name: string, content: string): string => {
      writeFileSync(path.join(folder, name), content);
      return path.join(folder, name);
    };
    const modelFile = (name: string): string =>
      write(`${name}.json`, JSON.stringify({ name, ...sizes, targets, prices, dialect: 'vllm', capabilities: { thinking_budget: true } }));
    const published = async (name: string) => (await database.models.list(SERVERLESS_POOL)).get(name);

    test('under keys made of their content, and keeps them when it is published again without', async () => {
      const file = modelFile('counted');
      const template = write('template.jinja', '{{ bos_token }}{{ messages[0].content }}');
      const config = write('config.json', '{"bos_token":"<s>"}');
      const args = ['publish-model', '--file', file, '--tokenizer', tokenizer, '--tokenizer-config', config, '--chat-template', template];
      expect((await admin(...args)).stdout).toContain('Published counted');
      const { tokenizer: files } = (await published('counted')) as { tokenizer: TokenizerFiles };
      const key = (name: string) => expect.stringMatching(new RegExp(`^sha256/[0-9a-f]{64}/${name}$`));
      expect(files).toEqual({
        vocabulary_size: 2_259,
        tokenizer: key('tokenizer.json'),
        config: key('tokenizer_config.json'),
        chat_template: key('chat_template.jinja'),
      });
      expect((await objects.get(BUCKET, files.tokenizer))?.equals(readFileSync(tokenizer))).toBe(true);

      expect((await admin('publish-model', '--file', file)).code).toBe(0);
      expect(await published('counted')).toMatchObject({
        tokenizer: files,
        targets: [{ weight: 3 }, { weight: 1 }],
        capabilities: { thinking_budget: true, tools: true },
      });
    });

    test('unless they are of no use, which it says before anything is stored', async () => {
      const file = modelFile('uncounted');
      const refusal = async (...args: string[]): Promise<string> => (await admin('publish-model', '--file', file, ...args)).stderr;
      expect(await refusal('--chat-template', tokenizer)).toContain('need --tokenizer');
      expect(await refusal('--tokenizer', '/nowhere.json')).toContain('/nowhere.json cannot be read');
      expect(await refusal('--tokenizer', file)).toContain('tokenizer.json cannot be read');
      expect(await refusal('--tokenizer', tokenizer)).toContain('There is no chat template');
      expect(await refusal('--tokenizer', tokenizer, '--chat-template', write('open.jinja', '{% if x %}'))).toContain(
        'The chat template cannot be read',
      );
      expect(await refusal('--tokenizer', tokenizer, '--chat-template', write('gap.jinja', '{{ messages | frobnicate }}'))).toContain(
        'cannot be rendered with one message of the user',
      );
      expect(await published('uncounted')).toBeUndefined();
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
