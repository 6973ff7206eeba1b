import { readFileSync } from 'node:fs';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { countTokens } from '../../../../functions/inference/messages/count.ts';
import { messages as route } from '../../../../functions/inference/messages/route.ts';
import { messagesPrompt } from '../../../../functions/inference/messages/to-chat.ts';
import { countPrompt } from '../../../../functions/tokenizer/engine/fit-prompt.ts';
import { loadTokenizer } from '../../../../functions/tokenizer/engine/loaded-tokenizer.ts';
import { CHAT_TEMPLATE_FILE } from '../../../../infra/local/model-server/model/tokenizer.ts';
import { inFlightOf, type LimiterItem, usageOf } from '../../../../shared/admission/item/limiter-item.ts';
import { slotOf } from '../../../../shared/admission/item/sliding-window.ts';
import type { ApiEvent } from '../../../../shared/http/api-event.ts';
import { newRequestId } from '../../../../shared/ids/request-id.ts';
import { createInventory } from '../../../../shared/models/inventory.ts';
import { SERVERLESS_POOL } from '../../../../shared/models/model-store.ts';
import type { ChatPrompt } from '../../../../shared/tokens/prompt.ts';
import type { Tokenizer } from '../../../../shared/tokens/tokenizer.ts';
import { type Completion, type Container, invoke, startContainer } from '../../../infra/local/model-server/fixtures.ts';
import { startTestDatabase, type TestDatabase } from '../../../support/emulators/database.ts';
import { texts } from '../../../support/emulators/tokenizers.ts';
import { makeCaller, wide } from '../../../support/fixtures/callers.ts';
import { createKey, type TestKey } from '../../../support/fixtures/create-key.ts';
import { noTokenizer } from '../../../support/fixtures/pipeline.ts';
import { assistant, model, read, readCount, result, system, text, used, user } from './requests.ts';

const sluice = loadTokenizer({ tokenizer: texts.tokenizer, chatTemplate: readFileSync(CHAT_TEMPLATE_FILE, 'utf8') });
const tools = [
  { name: 'look', description: 'Looks at a river.', input_schema: { type: 'object', properties: { at: { type: 'number' } } } },
];

describe('the counted tokens', () => {
  let container: Container;
  beforeAll(async () => {
    container = await startContainer();
  });
  afterAll(() => container.close());

  // The runtime's own count, which is charged.
  const billed = async (body: Record<string, unknown>): Promise<number | undefined> => {
    const request = read(body);
    const prompt = messagesPrompt(request, model);
    const facts = { prompt, maxTokens: 1, containerModel: '', requestId: 'req_1', cacheSalt: 'salt' };
    const upstream = { ...route.toUpstream(request, model, facts), stream: false, stream_options: undefined };
    return ((await (await invoke(container, upstream)).json()) as Completion).usage?.prompt_tokens;
  };
  const counted = (body: Record<string, unknown>): number => countPrompt(sluice, messagesPrompt(readCount(body), model));

  const turns = [
    user('Look!'),
    assistant([text('I will.'), used('a', 'look', { at: 1.5 })]),
    user([result('a', 'Water.', { is_error: true })]),
  ];
  test.each<[string, Record<string, unknown>]>([
    ['a text', { messages: [user('What is a weir?')] }],
    ['a system prompt and tools (bug 11)', { system: [text('Be brief.'), text('Be kind.')], tools, messages: [user('Look!')] }],
    ['calls, results and a system message in the middle (bug 13)', { tools, messages: [...turns, system('Tokens left: 5')] }],
    [
      'thinking',
      { thinking: { type: 'adaptive' }, messages: [user('Hi'), assistant([{ type: 'thinking', thinking: 'Hm.' }, text('A')]), user('?')] },
    ],
    ['a continued message', { messages: [user('Hi'), assistant('A lock ')] }],
  ])('are those that the runtime charges for the same request: %s', async (_, body) => {
    expect(counted(body)).toBe(await billed(body));
    expect(counted(body)).toBeGreaterThan(5);
  });
});

describe('POST /v1/messages/count_tokens', () => {
  let database: TestDatabase;
  beforeAll(async () => {
    database = await startTestDatabase();
    const common = { ...model, name: undefined };
    await database.models.put(SERVERLESS_POOL, { ...common, name: 'plain' });
    await database.models.put(SERVERLESS_POOL, { ...common, name: 'm', tokenizer: { tokenizer: 'k' } });
  });
  afterAll(() => database.close());
  beforeEach(() => {
    jest.spyOn(process.stdout, 'write').mockReturnValue(true);
  });
  afterEach(() => {
    jest.restoreAllMocks();
  });

  const fitAll = async ({ prompt }: { prompt: ChatPrompt }) => ({ prompt_tokens: countPrompt(sluice, prompt), kept: null });

  const setUp = async (fields: Partial<TestKey> = {}, tokenizer: Partial<Tokenizer> = { fit: fitAll }) => {
    const { secret, key_id } = await createKey(database.limiters, { ...wide, ...fields });
    const inventory = createInventory(database.models, SERVERLESS_POOL, Date.now);
    const nowMs = Date.now();
    const serve = countTokens('/v1/messages/count_tokens', {
      host: { scope: fields.scope ?? 'serverless' },
      modelsOf: () => inventory,
      keys: makeCaller(database.limiters, () => nowMs),
      tokenizer: { ...noTokenizer, ...tokenizer },
      now: Date.now,
    });
    const authorized = { authorization: `Bearer ${secret}`, 'x-user-id': '9d3b7c52-4e1a-4f06-8b1e-2a6c5d9f7e30' };
    const call = async (body: object | string = {}, headers: Record<string, string> = authorized) => {
      const event = {
        headers,
        body: typeof body === 'string' ? body : JSON.stringify({ model: 'm', messages: [user('Hi')], ...body }),
        path: '/v1/messages/count_tokens',
        requestContext: {},
        requestId: newRequestId(Date.now()),
        receivedAtMs: Date.now(),
      };
      const reply = await serve(event as unknown as ApiEvent, { getRemainingTimeInMillis: () => 60_000 });
      return { status: reply.statusCode, headers: reply.headers, body: JSON.parse(String(reply.body)) };
    };
    const revoke = () => database.limiters.configure(key_id, { status: 'revoked' });
    const usage = async () => {
      const item = (await database.limiters.whole(key_id)) as LimiterItem;
      const { requests, tokens } = usageOf(item, slotOf(nowMs));
      return { requests: requests.current, tokens: tokens.current, inFlight: inFlightOf(item) };
    };
    return { call, revoke, events: () => database.recentEvents(key_id), usage };
  };

  test('returns the number of tokens, and the fields without effect', async () => {
    const { call } = await setUp();
    const { status, headers, body } = await call({ system: 'Be brief.', tools, context_management: {} });
    const prompt = messagesPrompt(readCount({ system: 'Be brief.', tools }), model);
    expect({ status, body }).toEqual({ status: 200, body: { input_tokens: countPrompt(sluice, prompt) } });
    expect(headers).toMatchObject({ 'x-sluice-ignored': 'context_management', 'x-ratelimit-limit-requests': '100000' });
  });

  test('is free: 25 at once leave no trace in the key’s limits and have no usage event', async () => {
    const { call, events, usage } = await setUp({ requests_per_minute: 25, tokens_per_minute: 25, concurrency: 25 });
    for (let round = 0; round < 2; round++) {
      const replies = await Promise.all(Array.from({ length: 25 }, () => call()));
      expect(replies.map(({ status }) => status)).toEqual(Array(25).fill(200));
    }
    expect(await usage()).toEqual({ requests: 0, tokens: 0, inFlight: 0 });
    expect(await events()).toEqual([]);
  });

  test('is in flight while it lasts, so that a key can’t have more tokenizers than its share', async () => {
    const { promise: released, resolve: releaseAll } = Promise.withResolvers<void>();
    const { promise: begun, resolve: begin } = Promise.withResolvers<void>();
    const slow = async (request: { prompt: ChatPrompt }) => {
      begin();
      await released;
      return fitAll(request);
    };
    const { call, usage } = await setUp({ concurrency: 1 }, { fit: slow });
    const first = call();
    await begun;
    await expect(call()).rejects.toMatchObject({ status: 429, code: 'rate_limit_exceeded' });
    releaseAll();
    expect(await first).toMatchObject({ status: 200 });
    expect(await usage()).toMatchObject({ inFlight: 0 });
  });

  test('leaves no trace in the key’s limits if the tokenizer fails', async () => {
    const failing = async () => {
      throw new Error('no tokenizer');
    };
    const { call, usage } = await setUp({}, { fit: failing });
    await expect(call()).rejects.toThrow('no tokenizer');
    expect(await usage()).toEqual({ requests: 0, tokens: 0, inFlight: 0 });
  });

  test('has its errors in the order 401, 403, 400, 404', async () => {
    const { call } = await setUp();
    const narrow = await setUp({ models: ['another'] });
    await expect(call('{', { authorization: 'Bearer nonsense' })).rejects.toMatchObject({ status: 401 });
    await expect(narrow.call()).rejects.toMatchObject({ status: 403 });
    await expect(narrow.call({ messages: [] })).rejects.toMatchObject({ status: 403 });
    await expect(narrow.call({ model: 'gone' })).rejects.toMatchObject({ status: 403 });
    await expect(call('{')).rejects.toMatchObject({ status: 400 });
    await expect(call({ messages: [{ role: 'tool' }] })).rejects.toMatchObject({ status: 400 });
    await expect(call({ model: 'gone' })).rejects.toMatchObject({ status: 404, code: 'model_not_found' });
  });

  test('is a 404 for a model whose prompts can’t be counted, so that clients estimate', async () => {
    const { call } = await setUp();
    await expect(call({ model: 'plain' })).rejects.toMatchObject({ status: 404, code: 'tokens_not_countable' });
    const broken = await setUp({}, { fit: async () => ({ prompt_tokens: null, kept: null }) });
    await expect(broken.call()).rejects.toMatchObject({ status: 404, code: 'tokens_not_countable' });
  });

  test('counts for the organization whose deployment it is', async () => {
    const organizations: (string | undefined)[] = [];
    const noting = async ({ organization }: { organization?: string | undefined }) => {
      organizations.push(organization);
      return { prompt_tokens: 7, kept: null };
    };
    const shared = await setUp({}, { fit: noting });
    const own = await setUp({ scope: 'on_demand' }, { fit: noting });
    expect([(await shared.call()).body, (await own.call()).body]).toEqual([{ input_tokens: 7 }, { input_tokens: 7 }]);
    expect(organizations).toEqual([undefined, wide.org]);
  });

  test('rejects a revoked key at once, though the environment still knows the valid one', async () => {
    const { call, revoke } = await setUp();
    await call();
    await revoke();
    await expect(call()).rejects.toMatchObject({ status: 401 });
  });
});
