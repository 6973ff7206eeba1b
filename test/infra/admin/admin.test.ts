import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { PutCommand } from '@aws-sdk/lib-dynamodb';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { createAuditStore } from '../../../functions/control/audit/audit-store.ts';
import { createMemoryStore } from '../../../infra/local/s3/object-store.ts';
import { type S3Emulator, startS3 } from '../../../infra/local/s3/server.ts';
import { authenticate } from '../../../shared/admission/authenticate.ts';
import { isOrganizationLimited, type KeyItem } from '../../../shared/admission/key-item.ts';
import { availableNanosOf, limitsOf } from '../../../shared/admission/limiter-item.ts';
import { type PresentedKey, parseSecret } from '../../../shared/admission/secret.ts';
import { createAccountTable } from '../../../shared/database/record-table.ts';
import { newId } from '../../../shared/ids/id.ts';
import type { TokenizerFiles } from '../../../shared/models/model.ts';
import { SERVERLESS_POOL } from '../../../shared/models/model-store.ts';
import { makeCaller } from '../../support/callers.ts';
import { startTestDatabase, type TestDatabase } from '../../support/database.ts';
import { DAY, Draft, eventsOf, newKeys, plainSums, SHARDS, shardsOfKey } from '../../support/usage-events.ts';

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

/** Runs `npm run admin` on the test's tables and bucket. */
const admin = async (...args: string[]): Promise<{ code: number; stdout: string; stderr: string }> => {
  const { Keys: KEYS_TABLE, Models: MODELS_TABLE, Usage: USAGE_TABLE, Accounts: ACCOUNTS_TABLE, Audit: AUDIT_TABLE } = database.tables;
  const env = {
    AWS_REGION: 'us-east-1',
    AWS_ACCESS_KEY_ID: 'x',
    AWS_SECRET_ACCESS_KEY: 'x',
    AWS_ENDPOINT_URL_DYNAMODB: database.url,
    AWS_ENDPOINT_URL_S3: s3.url,
    TOKENIZERS_BUCKET: BUCKET,
    KEYS_TABLE,
    MODELS_TABLE,
    USAGE_TABLE,
    ACCOUNTS_TABLE,
    AUDIT_TABLE,
  };
  try {
    return {
      code: 0,
      ...(await promisify(execFile)(process.execPath, [path.join(import.meta.dirname, '../../../infra/admin/main.ts'), ...args], { env })),
    };
  } catch (error) {
    return error as { code: number; stdout: string; stderr: string };
  }
};

const abs = (nanos: bigint): bigint => (nanos < 0n ? -nanos : nanos);

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
    expect(limitsOf(item)).toMatchObject({ requestsPerMinute: 60, tokensPerMinute: 200_000, concurrency: 32 });
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

  test('publishes a model again with the next version and an audit entry, and keeps a deprecation that the file omits', async () => {
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
    const audit = createAuditStore(createAccountTable(database.database, database.tables.Audit as string));
    const noted = (await audit.list(null, { limit: 100 })).data.filter(({ target }) => target.id === 'noted');
    expect(noted).toMatchObject([
      { action: 'model.updated', actor: { type: 'operator', id: 'ada' }, changes: { context_length: { from: 10, to: 20 } } },
      { action: 'model.registered', actor: { type: 'operator', id: 'ada', email: null } },
    ]);
  });

  describe('publishes a model with its own files', () => {
    const CONTAINER_MODEL = path.join(import.meta.dirname, '../../../infra/container/model');
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
      expect(await published('uncounted')).toBeUndefined();
    });
  });

  test('rebuilds the daily totals of all keys used since that day, with all their shards, and reports and fails on drift', async () => {
    const keys = newKeys();
    const used = Date.parse(DAY);
    const limiters = [
      { id: keys.plain, last_used: used + 1 },
      // A shard was used later than the key's own item.
      { id: keys.sharded, shards: SHARDS, last_used: used - 86_400_000 },
      { id: `${keys.sharded}#1`, last_used: used + 5 },
      { id: newId('key'), last_used: used - 86_400_000 },
      { id: newId('key') },
      { id: 'org_test', last_used: used },
    ];
    for (const Item of limiters) await database.database.send(new PutCommand({ TableName: database.tables.Keys, Item }));
    const events = eventsOf(keys, fc.sample(Draft, { seed: 9, numRuns: 8 }));
    for (const event of events) await database.usage.putIfAbsent(event, shardsOfKey(keys, event.key_id));
    const ofDay = events.filter(({ admitted_at }) => admitted_at >= used);
    const rows = plainSums(keys, ofDay);
    const costNanos = ofDay.reduce((sum, { cost_nanos }) => sum + cost_nanos, 0n);
    const totals = {
      day: DAY,
      keys: 2,
      events: ofDay.length,
      requests: ofDay.filter(({ request_id }) => !request_id.includes('#')).length,
      cost_nanos: String(costNanos),
      behind: { rows: 0, events: 0 },
    };
    const first = await admin('rebuild', '--day', DAY);
    expect(first.code).toBe(1);
    const drift = rows.reduce(
      (sum, { totals: { events, cost_nanos } }) => ({ events: sum.events + events, cost: sum.cost + abs(cost_nanos) }),
      {
        events: 0,
        cost: 0n,
      },
    );
    expect(JSON.parse(first.stdout)).toEqual({
      ...totals,
      drift: { rows: rows.length, events: drift.events, cost_nanos: String(drift.cost) },
    });
    const second = await admin('rebuild', '--day', DAY);
    expect(JSON.parse(second.stdout)).toEqual({ ...totals, drift: { rows: 0, events: 0, cost_nanos: '0' } });
    expect(second.code).toBe(0);
  });

  test.each([
    [[], /command is missing/],
    [['destroy'], /no command 'destroy'/],
    [['create-key'], /org/],
    [['create-key', '--org', 'o', '--concurrency', 'many'], /concurrency/],
    [['create-key', '--org', 'o', '--models', ''], /models/],
    [['create-key', '--org', 'o', '--models', 'a,'], /models/],
    [['create-key', '--org', 'o', '--expires', ''], /expires_at/],
    [['create-key', '--org', 'o', '--requests-per-minute', ''], /requests_per_minute/],
    [['create-key', '--nonsense'], /--nonsense/],
    [['publish-model', '--file', '/nowhere.json'], /cannot be read/],
    [['rebuild'], /--day/],
    [['rebuild', '--day', '2026-11-31'], /--day/],
  ])('%j is rejected with the usage text', async (args, message) => {
    const { code, stderr } = await admin(...args);
    expect(code).toBe(1);
    expect(stderr).toMatch(message);
    expect(stderr).toContain('Usage: npm run admin');
  });
});

describe("an organization's money", () => {
  test('accepts limits and credit, and its balance adds up', async () => {
    const { stdout } = await admin(
      'create-key',
      '--org',
      'org_paying',
      '--day-budget',
      '0.000000005',
      '--total-budget',
      '12.5',
      '--no-content',
    );
    const [keyId = ''] = /key_\w+/.exec(stdout) ?? [];
    const itemOf = async (id: string) => (await database.limiters.get(id)) as KeyItem;
    const key = await itemOf(keyId);
    expect(key).toMatchObject({ no_content: true });
    expect(limitsOf(key)).toMatchObject({ budgets: { day: 5n, total: 12_500_000_000n } });
    expect((await admin('grant-credit', '--org', 'org_paying', '--dollars', '1', '--reason', 'r')).stderr).toContain('has no limits yet');
    expect((await admin('limit-organization', '--org', 'org_paying', '--month-budget', '500', '--prepaid')).stdout).toContain(
      'Set the limits of org_paying',
    );
    const limited = { budgets: { month: 500_000_000_000n }, isPrepaid: true, concurrency: 1_000 };
    expect(limitsOf(await itemOf('org_paying'))).toMatchObject(limited);
    expect(isOrganizationLimited(await itemOf(keyId))).toBe(true);
    expect((await admin('grant-credit', '--org', 'org_paying', '--dollars', '100.25', '--reason', 'invoice 7')).stdout).toContain(
      '$100.25',
    );
    await admin('grant-credit', '--org', 'org_paying', '--dollars=-0.25', '--reason', 'correction', '--actor', 'finance');
    const { stdout: balance, code } = await admin('balance', '--org', 'org_paying');
    expect(JSON.parse(balance)).toEqual({
      organization: 'org_paying',
      grants: 2,
      granted: '100',
      spent: '0',
      held: '0',
      available: '100',
      drift: '0',
    });
    expect(code).toBe(0);
    // New limits without them remove the budget and prepayment; granted credit stays.
    await admin('limit-organization', '--org', 'org_paying', '--requests-per-minute', '5');
    const item = await itemOf('org_paying');
    expect(availableNanosOf(item)).toBe(100_000_000_000n);
    const unlimited = { tokensPerMinute: Number.POSITIVE_INFINITY, concurrency: 1_000, budgets: {}, isPrepaid: false };
    expect(limitsOf(item)).toEqual({ ...unlimited, requestsPerMinute: 5 });
  });

  test.each([
    [['limit-organization'], '--org is missing'],
    [['grant-credit', '--org', 'o', '--dollars', '1e3', '--reason', 'r'], '--dollars expects dollars'],
    [['grant-credit', '--org', 'o', '--dollars', '1'], 'reason'],
    [['create-key', '--org', 'o', '--day-budget', '0.0000000001'], '--day-budget expects dollars'],
  ])('%j is rejected: %s', async (args, words) => {
    const { code, stderr } = await admin(...args);
    expect(code).toBe(1);
    expect(stderr).toContain(words);
  });
});
