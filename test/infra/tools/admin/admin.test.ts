import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { NewDeployment } from '../../../../functions/control/deployments/new-deployment.ts';
import { createMemoryStore } from '../../../../infra/local/s3/object-store.ts';
import { type S3Emulator, startS3 } from '../../../../infra/local/s3/server.ts';
import { type LimiterItem, limitsOf } from '../../../../shared/admission/item/limiter-item.ts';
import { type PresentedKey, parseSecret } from '../../../../shared/admission/item/secret.ts';
import { authenticate } from '../../../../shared/admission/keys/authenticate.ts';
import { createAuditStore } from '../../../../shared/audit/audit-store.ts';
import { createRecordTable } from '../../../../shared/database/record-table.ts';
import type { TokenizerFiles } from '../../../../shared/models/model.ts';
import { SERVERLESS_POOL } from '../../../../shared/models/model-store.ts';
import { startTestDatabase, type TestDatabase } from '../../../support/emulators/database.ts';
import { makeCaller } from '../../../support/fixtures/callers.ts';
import { runAdmin } from './run-admin.ts';

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

const admin = (...args: string[]) => runAdmin(database, args, { AWS_ENDPOINT_URL_S3: s3.url, TOKENIZERS_BUCKET: BUCKET });

describe('npm run admin', () => {
  test('creates a working key with the given limits and prints its secret', async () => {
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
    const item = await authenticate(makeCaller(database.limiters, Date.now), key);
    expect(item).toMatchObject({ org: 'org_1', models: ['a', 'b'], expires_at: Date.UTC(2099, 0, 1) });
    expect(limitsOf((await database.limiters.whole(item.id)) as LimiterItem)).toMatchObject({
      requestsPerMinute: 60,
      tokensPerMinute: 200_000,
      concurrency: 32,
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
    expect((await admin('publish-model', '--file', file)).stderr).toContain('Keep p1 as published');
    write([{ ...prices[0], effective_at: Date.now() + 1e9 }]);
    expect((await admin('publish-model', '--file', file)).stderr).toContain('no price in effect');
    write([...prices, { version: 'p2', effective_at: 5, prompt_nanos: 3, completion_nanos: 4 }]);
    expect((await admin('publish-model', '--file', file)).code).toBe(0);
    expect((await database.models.list(SERVERLESS_POOL)).get('m')).toMatchObject({
      status: 'published',
      prices: [prices[0], { version: 'p2' }],
      version: 2,
    });
  });

  test('publishes a model again with the next version and an audit entry, and keeps an omitted deprecation', async () => {
    const prices = [{ version: 'p1', effective_at: 0, prompt_nanos: 1, completion_nanos: 2 }];
    const sizes = { context_length: 10, max_output_tokens: 5, default_output_tokens: 5 };
    const publish = (fields: object) => {
      const file = path.join(folder, 'noted.json');
      writeFileSync(file, JSON.stringify({ name: 'noted', ...sizes, targets: [{ endpoint: 'e' }], prices, ...fields }));
      return admin('publish-model', '--file', file, '--actor', 'ada');
    };
    expect((await publish({ version: 7 })).stderr).toContain('version');
    const deprecation = { deprecated_at: 1_795_219_200 };
    expect((await publish({ deprecation })).code).toBe(0);
    expect((await publish({ context_length: 20 })).code).toBe(0);
    expect(await database.models.get(SERVERLESS_POOL, 'noted')).toMatchObject({ context_length: 20, deprecation, version: 2 });
    const audit = createAuditStore(createRecordTable(database.database, database.tables.Audit as string));
    const noted = (await audit.list(null, { limit: 100 })).data.filter(({ target }) => target.id === 'noted');
    expect(noted).toMatchObject([
      { action: 'model.updated', actor: { type: 'operator', id: 'ada' }, changes: { context_length: { from: 10, to: 20 } } },
      { action: 'model.registered', actor: { type: 'operator', id: 'ada', email: null } },
    ]);
  });

  test('publishes an embedding model without output tokens, and never changes its task', async () => {
    const file = path.join(folder, 'embedder.json');
    const prices = [{ version: 'p1', effective_at: 0, prompt_nanos: 1, completion_nanos: 0 }];
    const publish = (fields: object) => {
      writeFileSync(file, JSON.stringify({ name: 'embedder', context_length: 10, targets: [{ endpoint: 'e' }], prices, ...fields }));
      return admin('publish-model', '--file', file);
    };
    const embedder = { task: 'embed', embedding: { dimensions: 8 } };
    expect((await publish({ task: 'embed' })).stderr).toContain("Invalid value for 'embedding'");
    expect((await publish(embedder)).code).toBe(0);
    expect(await database.models.get(SERVERLESS_POOL, 'embedder')).toMatchObject({ ...embedder, capabilities: { tools: false } });
    expect((await publish({ task: 'rerank' })).stderr).toContain("has the task 'embed', which can't be changed");
  });

  describe('publishes a model with its own files', () => {
    const CONTAINER_MODEL = path.join(import.meta.dirname, '../../../../infra/local/model-server/model');
    const tokenizer = path.join(CONTAINER_MODEL, 'tokenizer.json');
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

    test('under keys derived from their content, and keeps them when it is published again without files', async () => {
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

    test('or registers the files for deployments and prints their keys, if they are valid', async () => {
      const template = write('registered.jinja', '{{ messages[0].content }}');
      const { stdout } = await admin('register-tokenizer', '--tokenizer', tokenizer, '--chat-template', template);
      const files = JSON.parse(stdout) as TokenizerFiles;
      expect(() => NewDeployment.shape.tokenizer.parse(files)).not.toThrow();
      expect((await objects.get(BUCKET, files.tokenizer))?.equals(readFileSync(tokenizer))).toBe(true);
      expect((await admin('register-tokenizer', '--tokenizer', tokenizer)).stderr).toContain('There is no chat template');
      expect((await admin('register-tokenizer')).stderr).toContain('register-tokenizer needs --tokenizer');
    });

    test('publishes a template that is only for chats with tools', async () => {
      const template = write('tools.jinja', "{{ tools[0].function.name + ': ' + messages[0].content }}");
      const { stdout } = await admin('publish-model', '--file', modelFile('tools'), '--tokenizer', tokenizer, '--chat-template', template);
      expect(stdout).toContain('Published tools');
    });

    test('only if the files are valid, and otherwise stores nothing', async () => {
      const file = modelFile('uncounted');
      const refusal = async (...args: string[]): Promise<string> => (await admin('publish-model', '--file', file, ...args)).stderr;
      expect(await refusal('--chat-template', tokenizer)).toContain('need --tokenizer');
      expect(await refusal('--tokenizer', '/nowhere.json')).toContain('/nowhere.json cannot be read');
      expect(await refusal('--tokenizer', file)).toContain('tokenizer.json cannot be read');
      expect(await refusal('--tokenizer', tokenizer)).toContain('There is no chat template');
      const huge = write('huge.json', `${readFileSync(tokenizer, 'utf8')}${' '.repeat(64 * 1024 * 1024)}`);
      expect(await refusal('--tokenizer', huge, '--chat-template', file)).toContain('A tokenizer file can have at most 67108864');
      expect(await refusal('--tokenizer', tokenizer, '--chat-template', write('open.jinja', '{% if x %}'))).toContain(
        'The chat template cannot be read',
      );
      expect(await refusal('--tokenizer', tokenizer, '--chat-template', write('gap.jinja', '{{ messages | frobnicate }}'))).toMatch(
        /cannot render a single user message: .*frobnicate/,
      );
      const unsupported = '{% if messages[0].content == "rare" %}{{ messages | truncate(3) }}{% endif %}';
      expect(await refusal('--tokenizer', tokenizer, '--chat-template', write('rare.jinja', unsupported))).toContain(
        "The chat template cannot be read: The filter 'truncate' is not supported.",
      );
      expect(await published('uncounted')).toBeUndefined();
    });
  });

  test.each([
    [[], /command is missing/],
    [['destroy'], /no command 'destroy'/],
    [['create-key'], /org/],
    [['create-key', '--org', 'o', '--concurrency', 'many'], /concurrency/],
    [['create-key', '--org', 'o', '--models', ''], /models/],
    [['create-key', '--org', 'o', '--models', 'a,'], /models/],
    [['create-key', '--org', 'o', '--expires', ''], /--expires: expected a day in UTC/],
    [['create-key', '--org', 'o', '--expires', '2099-1-1'], /--expires: expected a day in UTC/],
    [['create-key', '--org', 'o', '--expires', '2099-01-01T12:00'], /--expires: .*or a time with its zone/],
    [['create-key', '--org', 'o', '--requests-per-minute', ''], /^--requests-per-minute: expected a number/],
    [['create-key', '--nonsense'], /--nonsense/],
    [['create-key', '--org', 'o', '--actor', ' '], /--actor is empty/],
    [['tickets', '--org', ''], /--org is missing/],
    [['top', '--org', ''], /--org is missing/],
    [['create-key', '--org', 'o', '--prepaid'], /create-key has no option --prepaid/],
    [['limit-organization', '--org', 'o', '--day-budget', '5'], /limit-organization has no option --day-budget/],
    [['limit-organization', '--org', 'o', 'month-budget=5'], /limit-organization doesn't take 'month-budget=5'/],
    [['why', 'SweepLate', 'RollupsLate'], /why doesn't take 'RollupsLate'/],
    [['publish-model', '--file', '/nowhere.json'], /cannot be read/],
    [['rebuild', '--day', '2026-11-21', '--request-rows'], /--request-rows is for all days/],
    [['rebuild', '--day', '2026-11-31'], /--day/],
  ])('%j is rejected with the usage text', async (args, message) => {
    const { code, stderr } = await admin(...args);
    expect(code).toBe(1);
    expect(stderr).toMatch(message);
    expect(stderr).toContain('Usage: npm run admin');
  });
});
