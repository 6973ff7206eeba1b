import { gunzipSync } from 'node:zlib';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, jest, test } from '@jest/globals';
import type { SQSRecord } from 'aws-lambda';
import { createDatabasePayloadLog } from '../../../../functions/inference/payload-log/create-payload-log.ts';
import type { Dependencies } from '../../../../functions/inference/pipeline/dependencies.ts';
import { redactWaiting } from '../../../../functions/payloads/redact-waiting.ts';
import { createUnredactedObjects } from '../../../../functions/payloads/unredacted-objects.ts';
import { createMemoryStore, type ObjectStore } from '../../../../infra/local/s3/object-store.ts';
import { type S3Emulator, startS3 } from '../../../../infra/local/s3/server.ts';
import { createFifoQueue } from '../../../../infra/local/sqs/fifo-queue.ts';
import type { LocalQueue } from '../../../../infra/local/sqs/local-queue.ts';
import { type SqsEmulator, startSqs } from '../../../../infra/local/sqs/server.ts';
import { payloadLogConfiguration } from '../../../../shared/admission/item/key-item.ts';
import {
  createLimiterConfigurationStore,
  type LimiterConfigurationStore,
} from '../../../../shared/admission/stores/limiter-configuration-store.ts';
import { createRecordTable } from '../../../../shared/database/record-table.ts';
import { transact } from '../../../../shared/database/transaction.ts';
import type { Payload } from '../../../../shared/payload-log/payload.ts';
import { createPayloadPlaces } from '../../../../shared/payload-log/payload-places.ts';
import { createPutObject } from '../../../../shared/payload-log/put-object.ts';
import { PATTERNS, type PayloadLogSettings } from '../../../../shared/payload-log/settings.ts';
import { createPayloadLogStore, type PayloadLogStore, type SettingsOwner } from '../../../../shared/payload-log/settings-store.ts';
import { createWritePayload } from '../../../../shared/payload-log/write-payload.ts';
import { HOUR_MS } from '../../../../shared/time/units.ts';
import type { Invoke } from '../../../../shared/upstream/invocation.ts';
import { newId } from '../../../support/fixtures/new-id.ts';
import {
  answers,
  END,
  noPayloadLog,
  read,
  silentAfter,
  startTestPipeline,
  type TestPipeline,
  text,
} from '../../../support/fixtures/pipeline.ts';

const BUCKET = 'payloads';
const QUEUE_URL = 'https://sqs.us-east-1.amazonaws.com/000000000000/payloads.fifo';
let pipeline: TestPipeline;
let emulator: S3Emulator;
let objects: ObjectStore;
let queue: LocalQueue;
let sqs: SqsEmulator;
let settings: PayloadLogStore;
let limiters: LimiterConfigurationStore;
let organization: string;
let lines: string[];

beforeAll(async () => {
  objects = createMemoryStore();
  emulator = await startS3(new Set([BUCKET]), objects);
  queue = createFifoQueue(Date.now);
  sqs = await startSqs(new Map([[QUEUE_URL, queue]]));
  Object.assign(process.env, {
    AWS_ENDPOINT_URL_S3: emulator.url,
    AWS_ENDPOINT_URL_SQS: sqs.url,
    AWS_REGION: 'us-east-1',
    AWS_ACCESS_KEY_ID: 'AKID',
    AWS_SECRET_ACCESS_KEY: 'secret',
  });
  pipeline = await startTestPipeline();
  const { database, tables } = pipeline.database;
  settings = createPayloadLogStore(createRecordTable(database, tables.Observability as string));
  limiters = createLimiterConfigurationStore(database, tables.Keys as string);
});
afterAll(async () => {
  await pipeline.close();
  await emulator.close();
  await sqs.close();
});
beforeEach(() => {
  organization = newId('organization');
  lines = [];
  jest.spyOn(process.stdout, 'write').mockImplementation((line) => lines.push(String(line)) > 0);
});
afterEach(() => {
  for (const message of queue.receive(1_000)) queue.remove(message);
  jest.restoreAllMocks();
});

const ON: Omit<PayloadLogSettings, 'version'> = {
  enabled: true,
  retention_days: 7,
  patterns: [...PATTERNS],
  paths: [],
  tool_arguments: 'redact',
  updated_at: 1,
  updated_by: 'user_1',
  pending: false,
};

const save = (owner: SettingsOwner, fields: Partial<typeof ON> = {}, before?: number) =>
  transact(pipeline.database.database, [settings.toSave(owner, { ...ON, ...fields }, before)]);

const realLog = async () => {
  const { database, tables } = pipeline.database;
  return createDatabasePayloadLog(database, { table: tables.Observability as string, bucket: BUCKET, queueUrl: QUEUE_URL });
};

// Does the work of the function `payloads`.
const redactQueued = async (): Promise<void> => {
  const { database, tables } = pipeline.database;
  const table = tables.Observability as string;
  const { handle } = redactWaiting({
    settings,
    objects: createUnredactedObjects(BUCKET),
    waiting: createPayloadPlaces(database, table),
    write: createWritePayload(createPutObject(BUCKET)),
  });
  for (const message of queue.receive(1_000)) {
    await handle({ body: message.body } as SQSRecord, () => true);
    queue.remove(message);
  }
};

// The key's settings for the log are on unless the test says otherwise.
const setUp = async (invoke: Invoke = answers, change: Partial<Dependencies> = {}) => {
  const caller = await pipeline.setUp(invoke, { payloadLog: realLog, ...change }, { org: organization });
  await save({ organization });
  await limiters.setPayloadLog(caller.keyId, { isOn: true, version: 1 });
  return caller;
};

const logged = async (): Promise<Payload[]> => {
  await redactQueued();
  const found = (await objects.list(BUCKET)).filter(({ key }) => key.startsWith(`${organization}/`));
  const bodies = await Promise.all(found.map(({ key }) => objects.get(BUCKET, key)));
  return bodies.map((body) => JSON.parse(gunzipSync(body as Buffer).toString()));
};

describe('the payload log', () => {
  test('stores the request and its reply, after redaction, under the organization', async () => {
    const { call, keyId, events } = await setUp();
    const reply = await call({ messages: [{ role: 'user', content: 'I am a@b.example' }] });
    expect(JSON.parse(await read(reply)).choices[0].message.content).toBe('Hello');
    const [event] = await events();
    expect(event).toMatchObject({ is_payload_logged: true });
    const [payload] = await logged();
    expect(payload).toMatchObject({
      request_id: event?.request_id,
      api_key_id: keyId,
      route: '/v1/chat/completions',
      request: { content: { model: 'm', messages: [{ role: 'user', content: 'I am [redacted:email]' }] }, is_truncated: false },
      response: { status: 200, stream: false, content: { choices: [{ message: { content: 'Hello' } }] }, is_truncated: false },
      redactions: { email: 1 },
    });
    expect((payload?.expires_at ?? 0) - (payload?.created_at ?? 0)).toBe(7 * 86_400);
    expect(await objects.headersOf(BUCKET, `${organization}/${event?.request_id}.json.gz`)).toMatchObject({
      'x-amz-tagging': 'retention-days=7',
    });
  });

  test('stores no field that had no effect, at any level, and keeps what the caller defines', async () => {
    const { call } = await setUp();
    const reply = await call({
      junk: 'AA11 '.repeat(1_000),
      speculation: 'ignored by the runtime',
      tool_choice: 'auto',
      metadata: { anything: { goes: 1 } },
      stop: ['x'],
      messages: [
        { role: 'user', content: [{ type: 'text', text: 'Hi', cache_control: 'junk' }], junk: 'deep' },
        {
          role: 'assistant',
          content: null,
          tool_calls: [{ id: 'c1', type: 'function', junk: 1, function: { name: 'f', arguments: '{}' } }],
        },
        { role: 'tool', tool_call_id: 'c1', content: 'x' },
      ],
    });
    expect(reply.headers['x-sluice-ignored']).toBe('speculation, junk, tool_choice');
    await read(reply);
    const [payload] = await logged();
    expect(payload?.request.content).toEqual({
      model: 'm',
      metadata: { anything: { goes: 1 } },
      stop: ['x'],
      messages: [
        { role: 'user', content: [{ type: 'text', text: 'Hi' }] },
        {
          role: 'assistant',
          content: null,
          tool_calls: [{ id: 'c1', type: 'function', function: { name: 'f', arguments: '[redacted:tool]' } }],
        },
        { role: 'tool', tool_call_id: 'c1', content: '[redacted:tool]' },
      ],
    });
  });

  test('redacts and leaves out the same of a body that begins with a byte order mark', async () => {
    const { eventOf, serveEvent } = await setUp();
    const event = eventOf({
      junk: 'without effect',
      messages: [
        { role: 'user', content: 'Hi' },
        { role: 'assistant', tool_calls: [{ id: 'c1', function: { name: 'f', arguments: '{"secret":1}' } }] },
        { role: 'tool', tool_call_id: 'c1', content: 'secret' },
      ],
    });
    const reply = await serveEvent({ ...event, body: Buffer.from(`\ufeff${event.body}`).toString('base64'), isBase64Encoded: true });
    expect(JSON.parse(await read(reply)).choices[0].message.content).toBe('Hello');
    const [payload] = await logged();
    expect(payload?.request.content).toEqual({
      model: 'm',
      messages: [
        { role: 'user', content: 'Hi' },
        { role: 'assistant', tool_calls: [{ id: 'c1', function: { name: 'f', arguments: '[redacted:tool]' } }] },
        { role: 'tool', tool_call_id: 'c1', content: '[redacted:tool]' },
      ],
    });
  });

  test('works no more than its own budget on content that it redacts itself, whatever that is', async () => {
    const { call } = await setUp();
    await read(await call({ messages: [{ role: 'user', content: '::1 '.repeat(15_000) }] }));
    expect(queue.receive(10)).toEqual([]);
    const [payload] = await logged();
    expect(payload?.request).toMatchObject({ content: { messages: [{ content: '[redacted:budget]' }] }, is_truncated: true });
  });

  test('finds what a stream spreads over its chunks', async () => {
    const { call } = await setUp(async function* () {
      for (const part of ['Write to a', '@b', '.exam', 'ple.']) yield text(part);
      yield END;
    });
    const sent = await read(await call({ stream: true }));
    expect(sent).toContain('[DONE]');
    const [payload] = await logged();
    expect(payload?.response).toMatchObject({
      stream: true,
      content: { choices: [{ message: { content: 'Write to [redacted:email].' } }] },
    });
  });

  test('stores the start of a stream that is too large, and says so', async () => {
    const { call } = await setUp(async function* () {
      for (let i = 0; i < 20; i++) yield text('word '.repeat(100_000));
      yield END;
    });
    expect((await read(await call({ stream: true }))).length).toBeGreaterThan(10_000_000);
    const [payload] = await logged();
    expect(payload?.response).toMatchObject({ stream: true, is_truncated: true });
    const size = JSON.stringify(payload?.response.content).length;
    expect(size).toBeGreaterThan(500_000);
    expect(size).toBeLessThanOrEqual(1_000_000);
  });

  describe('content that is larger than 64 KB', () => {
    const large = (word = 'word') => ({ messages: [{ role: 'user', content: `${`${word} `.repeat(20_000)}a@b.example` }] });
    // Places are counted by the hour, which can end during a test.
    const thisHourAndNext = (): number[] => [Date.now(), Date.now() + HOUR_MS];

    test('waits for its redaction outside of the environment of its request, and the queue has no content', async () => {
      const { call, events } = await setUp();
      await read(await call(large('canary')));
      const [event] = await events();
      const key = `unredacted/${organization}/${event?.request_id}`;
      expect((await objects.list(BUCKET)).map((object) => object.key).filter((one) => one.includes(organization))).toEqual([key]);
      const waiting = queue.receive(10);
      expect(waiting).toMatchObject([{ group: organization, deduplicationId: event?.request_id }]);
      expect(waiting[0]?.body).not.toContain('canary');
      expect(waiting[0]?.body.length).toBeLessThan(200);
      expect(lines.join('')).not.toContain('canary');
    });

    test('is logged after its redaction, and deleted where it waited', async () => {
      const { call, keyId } = await setUp();
      await read(await call(large()));
      expect(await logged()).toMatchObject([
        { api_key_id: keyId, request: { is_truncated: false }, response: { status: 200, stream: false }, redactions: { email: 1 } },
      ]);
      expect((await objects.list(BUCKET)).filter(({ key }) => key.startsWith(`unredacted/${organization}/`))).toEqual([]);
    });

    test('is left out when a hundred payloads of the organization wait, and the log says so', async () => {
      const { call } = await setUp();
      const { database, tables } = pipeline.database;
      const waiting = createPayloadPlaces(database, tables.Observability as string);
      for (const atMs of thisHourAndNext()) for (let i = 0; i < 100; i++) expect(await waiting.take(organization, atMs)).toBe(true);
      await read(await call(large('canary')));
      expect(queue.receive(10)).toEqual([]);
      const limited = { content: '[redacted:limit]', is_truncated: true };
      expect(await logged()).toMatchObject([{ request: limited, response: { status: 200, ...limited }, redactions: { limit: 2 } }]);
      expect(lines.join('')).toContain('"message":"payload_limited"');
      await read(await call({}));
      expect(await logged()).toHaveLength(2);
    });

    test('keeps no place if it cannot be sent, and the failure is logged', async () => {
      const { call } = await setUp();
      const { database, tables } = pipeline.database;
      const waiting = createPayloadPlaces(database, tables.Observability as string);
      const hours = thisHourAndNext();
      for (const atMs of hours) for (let i = 0; i < 99; i++) await waiting.take(organization, atMs);
      await fetch(`${sqs.url}/control`, { method: 'PUT', body: '{"kind":"unavailable"}' });
      await read(await call(large()));
      await fetch(`${sqs.url}/control`, { method: 'DELETE' });
      expect(lines.join('')).toContain('payload_log_failed');
      for (const atMs of hours)
        expect([await waiting.take(organization, atMs), await waiting.take(organization, atMs)]).toEqual([true, false]);
    });
  });

  test('logs no arguments of calls, however a stream splits and mixes them', async () => {
    const piece = (index: number, id: string | undefined, part: string) => [
      {
        choices: [
          { index: 0, delta: { tool_calls: [{ index, ...(id && { id }), function: { ...(id && { name: id }), arguments: part } }] } },
        ],
      },
    ];
    const { call } = await setUp(async function* () {
      yield piece(0, 'one', '{"can');
      yield piece(1, 'two', '{"cana');
      yield piece(0, undefined, 'ary":1}');
      yield piece(1, undefined, 'ry":2}');
      yield END;
    });
    expect(
      await read(
        await call({
          stream: true,
          tools: [
            { type: 'function', function: { name: 'one' } },
            { type: 'function', function: { name: 'two' } },
          ],
        }),
      ),
    ).toContain('[DONE]');
    const [payload] = await logged();
    const calls = ['one', 'two'].map((name) => ({ function: { name, arguments: '[redacted:tool]' } }));
    expect(payload?.response.content).toMatchObject({ choices: [{ message: { tool_calls: calls } }] });
    expect(JSON.stringify(payload)).not.toContain('cana');
  });

  test('stores what a failed request got', async () => {
    const { call } = await setUp(async function* () {
      yield* [];
      throw new Error('broken');
    });
    const reply = await call({});
    await read(reply);
    const [payload] = await logged();
    expect(payload?.response.status).toBe(reply.statusCode);
    expect(payload?.response.content).toMatchObject({ error: { message: expect.any(String) } });
  });

  test('stores what was generated until the caller left', async () => {
    const { call } = await setUp(silentAfter(text('Hello')));
    const reply = await call({ stream: true });
    const { openReply } = await import('../../../support/emulators/open-reply.ts');
    const { stream, done } = openReply(reply.body as never);
    await new Promise((resolve) => stream.once('data', resolve));
    stream.destroy();
    await done;
    const [payload] = await logged();
    expect(payload?.response.content).toMatchObject({ choices: [{ message: { content: 'Hello' } }] });
  });

  test('ends the reply before the log is written', async () => {
    let release = (): void => undefined;
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    const { call } = await setUp(answers, { payloadLog: () => held.then(realLog) });
    for (const stream of [true, false]) {
      const { openReply } = await import('../../../support/emulators/open-reply.ts');
      const { stream: body, done } = openReply((await call({ stream })).body as never);
      // The caller has everything while the log is still held.
      expect((await body.setEncoding('utf8').toArray()).join('')).toContain('Hello');
      if (!stream) release();
      else expect(await logged()).toEqual([]);
      if (!stream) await done;
    }
  });

  test('gives the caller the whole reply if the log fails, and logs the failure without content', async () => {
    const failing = async () => async (): Promise<void> => {
      throw new Error('S3 is away.');
    };
    const { call, keyId } = await setUp(answers, { payloadLog: failing });
    expect(await read(await call({ messages: [{ role: 'user', content: 'canary' }] }))).toContain('Hello');
    const line = lines.find((one) => one.includes('payload_log_failed')) ?? '{}';
    expect(JSON.parse(line)).toMatchObject({ level: 'ERROR', key_id: keyId, org_id: organization, detail: 'S3 is away.' });
    expect(lines.join('')).not.toContain('canary');
  });

  test.each(['off', ' OFF '])('stores nothing of a request with x-sluice-log: %s', async (value) => {
    const { call, events } = await setUp(answers, { payloadLog: noPayloadLog });
    const reply = await call({}, 600_000, { 'X-Sluice-Log': value });
    expect(JSON.parse(reply.body as string).choices[0].message.content).toBe('Hello');
    expect((await events())[0]).not.toHaveProperty('is_payload_logged');
    expect(await logged()).toEqual([]);
  });

  test('rejects any other value of the header', async () => {
    const { call } = await setUp();
    for (const value of ['on', '', 'false'])
      await expect(call({}, 600_000, { 'x-sluice-log': value })).rejects.toMatchObject({ status: 400, param: 'x-sluice-log' });
  });

  test('rejects it also for a model that does not exist, and for a request that would be replayed', async () => {
    const { call } = await setUp();
    const wrong = { 'x-sluice-log': 'on', 'Idempotency-Key': newId('key') };
    const rejected = { status: 400, param: 'x-sluice-log' };
    await expect(call({ model: 'none' }, 600_000, wrong)).rejects.toMatchObject(rejected);
    await read(await call({}, 600_000, { 'Idempotency-Key': wrong['Idempotency-Key'] }));
    await expect(call({}, 600_000, wrong)).rejects.toMatchObject(rejected);
  });

  test('logs a request once, and no replay of it', async () => {
    const { call, events } = await setUp();
    const headers = { 'Idempotency-Key': newId('key') };
    await read(await call({}, 600_000, headers));
    const again = await call({}, 600_000, headers);
    expect(again.headers).toMatchObject({ 'idempotent-replayed': 'true' });
    expect(typeof again.body).toBe('string');
    expect((await logged()).map(({ request_id }) => request_id)).toEqual((await events()).map(({ request_id }) => request_id));
  });

  test('stores nothing once the owner has switched it off, even if the key does not know yet', async () => {
    const { call } = await setUp(async function* () {
      await save({ organization }, { enabled: false }, 1);
      yield* answers(undefined as never);
    });
    await read(await call({ stream: true }));
    expect(await logged()).toEqual([]);
  });

  test("stores nothing of a key whose own settings are off, even if the key's item does not know yet", async () => {
    const { call, keyId } = await setUp();
    await save({ organization, apiKey: keyId }, { enabled: false });
    await read(await call({}));
    expect(await logged()).toEqual([]);
  });

  test.each([
    ['the key has no_content', { no_content: true }],
    ['its organization has no_content', { no_o: true }],
    ['the key has its own log off', payloadLogConfiguration(false).set],
  ] as const)('loads no log if %s', async (_, set) => {
    const { call, keyId } = await setUp(answers, { payloadLog: noPayloadLog });
    await transact(pipeline.database.database, [limiters.toConfigure(keyId, { set: set as object, remove: [] })]);
    const reply = await call({});
    expect(typeof reply.body).toBe('string');
    expect(await logged()).toEqual([]);
  });
});

test('loads no log for a key that has none, and leaves its replies as they are', async () => {
  const { call, events } = await pipeline.setUp(answers, {}, { org: organization });
  expect(typeof (await call({})).body).toBe('string');
  expect(await read(await call({ stream: true }))).toContain('[DONE]');
  for (const event of await events()) expect(event).not.toHaveProperty('is_payload_logged');
});

test("logs by the key's own settings, which have priority", async () => {
  const { call, keyId } = await pipeline.setUp(answers, { payloadLog: realLog }, { org: organization });
  await save({ organization }, { enabled: false });
  await save({ organization, apiKey: keyId }, { paths: ['$.messages', '$.choices'], retention_days: 1 });
  await transact(pipeline.database.database, [limiters.toConfigure(keyId, payloadLogConfiguration(true))]);
  await read(await call({}));
  const [payload] = await logged();
  expect(payload).toMatchObject({
    request: { content: { messages: '[redacted:path]' } },
    response: { content: { choices: '[redacted:path]' } },
  });
});
