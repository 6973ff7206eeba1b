import { createServer, type ServerResponse } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { interpret } from '../../../infra/assembly/interpret.ts';
import type { LambdaFunction } from '../../../infra/assembly/local-app.ts';
import { readAssembly } from '../../../infra/assembly/read-assembly.ts';
import { LOCAL_MODEL } from '../../../infra/local/container.ts';
import { closeServer, listen } from '../../../infra/local/http/listen.ts';
import { startSageMaker } from '../../../infra/local/sagemaker/server.ts';
import { createRecordTable } from '../../../shared/database/record-table.ts';
import { transact } from '../../../shared/database/transaction.ts';
import type { Model } from '../../../shared/models/model.ts';
import { SERVERLESS_POOL } from '../../../shared/models/model-store.ts';
import { createPayloadLogStore } from '../../../shared/payload-log/settings-store.ts';
import { chatEvent } from '../../bench/cold-start.ts';
import { type Environment, type Invoked, startEnvironment } from '../../bench/memory/environment.ts';
import { assemblyDir } from '../../support/assembly/assembly.ts';
import { shareTestRun, type TestRun } from '../../support/clients/local-run.ts';
import { newId } from '../../support/fixtures/new-id.ts';
import { residentMiB } from '../../support/resident-memory.ts';

const MODEL = 'large-replies';
const EMBEDDING_MODEL = 'large-vectors';
const STORED_BYTES = 3_000_000;
const TOO_LARGE_TO_STORE_BYTES = 3_500_000;
// Lambda's own runtime needs so much more than the local one, by what is known.
const LAMBDA_MIB = 20;
// API Gateway passes no larger body on.
const LARGEST_BODY_BYTES = 4_490_000;
// More than the payload log keeps of a stream.
const STREAM_CHARACTERS = 9_000_000;
const CHUNK_CHARACTERS = 4_000;
// The most log probabilities of a reply are 70,000.
const LOGPROB_TOKENS = 3_333;
const TOP = 20;
// The most vectors of a request, if they are as long as those of the largest models.
const INPUTS = 1_024;
const DIMENSIONS = 4_096;
const TIMES = 2;

const send = (response: ServerResponse, chunk: object): boolean =>
  response.write(`data: ${JSON.stringify({ id: 'chatcmpl-1', object: 'chat.completion.chunk', created: 1, model: MODEL, ...chunk })}\n\n`);

const top = Array.from({ length: TOP }, (_, i) => ({ token: ` token${i}`, logprob: -i / 7, bytes: [32, 116, 111, 107, 101, 110] }));
const SCORED = { token: ' token', logprob: -0.5, bytes: [32, 116, 111, 107, 101, 110], top_logprobs: top };

// Non-Latin letters, which take two bytes each in V8.
const LARGE_DELTA = { delta: { content: '流'.repeat(CHUNK_CHARACTERS) } };
const deltasOf = (body: { logprobs?: boolean; stream?: boolean; max_tokens: number }): object[] => {
  if (body.logprobs) return Array.from({ length: LOGPROB_TOKENS }, () => ({ delta: { content: ' t' }, logprobs: { content: [SCORED] } }));
  const isLarge = body.max_tokens > 100;
  return Array.from({ length: isLarge ? STREAM_CHARACTERS / CHUNK_CHARACTERS : 1 }, () => LARGE_DELTA);
};

const VECTOR = Buffer.alloc(DIMENSIONS * Float32Array.BYTES_PER_ELEMENT, 1).toString('base64');

const container = createServer(async (request, response) => {
  const body = JSON.parse((await buffer(request)).toString());
  if (body.encoding_format) {
    const data = body.input.map((_: string, index: number) => ({ object: 'embedding', index, embedding: VECTOR }));
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify({ object: 'list', data, usage: { prompt_tokens: data.length, total_tokens: data.length } }));
    return;
  }
  const deltas = deltasOf(body);
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  for (const delta of deltas)
    if (!send(response, { choices: [{ index: 0, finish_reason: null, ...delta }] }))
      await new Promise((resolve) => response.once('drain', resolve));
  send(response, { choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] });
  send(response, { choices: [], usage: { prompt_tokens: 10, completion_tokens: deltas.length, total_tokens: 10 + deltas.length } });
  response.end('data: [DONE]\n\n');
});

let run: TestRun;
let sagemaker: Awaited<ReturnType<typeof startSageMaker>>;
let fn: LambdaFunction;
let authorization: string;
let environment: Environment;
beforeAll(async () => {
  run = await shareTestRun();
  const chat = (await run.models.list(SERVERLESS_POOL)).get(LOCAL_MODEL) as Model;
  const { tokenizer: _, ...model } = chat;
  const sizes = { context_length: 10_000_000, max_output_tokens: 5_000_000, default_output_tokens: 1_000 };
  const [{ endpoint }] = chat.targets;
  await run.models.put(SERVERLESS_POOL, { ...model, ...sizes, name: MODEL, targets: [{ endpoint }] });
  await run.models.put(SERVERLESS_POOL, {
    ...model,
    ...sizes,
    name: EMBEDDING_MODEL,
    task: 'embed',
    embedding: { dimensions: DIMENSIONS, is_shortenable: false },
    max_output_tokens: 1,
    default_output_tokens: 1,
    targets: [{ endpoint }],
  });
  const org = newId('organization');
  const log = createPayloadLogStore(createRecordTable(run.database, run.tables.Observability as string));
  const settings = { enabled: true, retention_days: 1 as const, patterns: [], paths: [], tool_arguments: 'redact' as const };
  await transact(run.database, [
    log.toSave({ organization: org }, { ...settings, updated_at: 0, updated_by: 'user_1', pending: false }, undefined),
  ]);
  authorization = `Bearer ${(await run.createKey({ org, payload_log: true })).secret}`;
  sagemaker = await startSageMaker(new Map([[endpoint, { url: await listen(container, 0), path: '/invocations' }]]));
  const { functions } = interpret(await readAssembly(assemblyDir()));
  fn = functions.find(({ shortName }) => shortName === 'inference') as LambdaFunction;
  environment = await startEnvironment({ run }, fn, fn.memoryMiB, {
    AWS_ENDPOINT_URL_SAGEMAKER_RUNTIME: sagemaker.url,
  });
});
afterAll(async () => {
  await environment.close();
  await sagemaker.close();
  await closeServer(container);
  // No function of the run has read them: the environment of this suite is its own.
  const TableName = run.tables.Models as string;
  for (const name of [MODEL, EMBEDDING_MODEL]) await run.database.delete({ TableName, Key: { pool: SERVERLESS_POOL, name } });
  await run.close();
});

const bodyOf = (fields: object): string =>
  JSON.stringify({ model: MODEL, messages: [{ role: 'user', content: 'Hello' }], max_tokens: 1, ...fields });
const text = (first: string): object => ({
  messages: [{ role: 'user', content: first + 'word '.repeat((LARGEST_BODY_BYTES - bodyOf({}).length) / 5) }],
});
const values = Array.from({ length: 240_000 }, (_, i) => `value ${i}`);
const manyValues = {
  tools: [{ type: 'function', function: { name: 'f', parameters: { type: 'object', properties: { a: { enum: values } } } } }],
};

const eventAt = (path: string, body: object): object => ({ ...chatEvent(authorization, JSON.stringify(body)), path, resource: path });
const expectToFit = (): void => {
  if (process.platform === 'linux') expect(residentMiB(environment.pid).peak).toBeLessThan(fn.memoryMiB - LAMBDA_MIB);
  else expect(environment.pid).toBeGreaterThan(0);
};

test.each<[string, object]>([
  ['the largest request', text('')],
  ['the largest request with a letter that is not Latin', text('漢')],
  ['a request with the most values', manyValues],
  ['a whole reply with the most log probabilities', { max_tokens: LOGPROB_TOKENS, logprobs: true, top_logprobs: TOP }],
  ['a stream that is longer than the log keeps', { max_tokens: 4_000_000, stream: true }],
])('answers %s in the memory that it is deployed with, again and again', async (_, fields) => {
  for (let time = 0; time < TIMES; time += 1) {
    const { status, text: reply } = await environment.invoke(chatEvent(authorization, bodyOf(fields)));
    expect({ status, ...(status !== 200 && { reply: reply.slice(0, 300) }) }).toEqual({ status: 200 });
  }
  expectToFit();
});

const embed = (inputs: number): Promise<Invoked> => {
  const input = Array.from({ length: inputs }, (_, i) => `text ${i}`);
  return environment.invoke(eventAt('/v1/embeddings', { model: EMBEDDING_MODEL, input, encoding_format: 'base64' }));
};

test('answers with the most and largest vectors, and refuses one more', async () => {
  for (let time = 0; time < TIMES; time += 1) {
    const { status, text: reply } = await embed(INPUTS);
    expect({ status, ...(status !== 200 && { reply: reply.slice(0, 300) }) }).toEqual({ status: 200 });
    const refused = await embed(INPUTS + 1);
    expect([refused.status, JSON.parse(refused.text).error.code]).toEqual([400, 'vectors_too_large']);
  }
  expectToFit();
});

test('continues the largest stored conversation, refuses more than fits beside it, and stores none larger', async () => {
  const input = (bytes: number) => [{ role: 'user', content: `漢${'word '.repeat(bytes / 5)}` }];
  const create = async (bytes: number) => {
    const body = { model: MODEL, input: input(bytes), max_output_tokens: 16 };
    return JSON.parse((await environment.invoke(eventAt('/v1/responses', body))).text);
  };
  const {
    id,
    store,
    output: [item],
  } = await create(STORED_BYTES);
  expect([store, (await create(TOO_LARGE_TO_STORE_BYTES)).store]).toEqual([true, false]);
  const send = async (body: object) => {
    const { status, text: reply } = await environment.invoke(
      eventAt('/v1/responses', { model: MODEL, max_output_tokens: 16, store: false, ...body }),
    );
    return { status, error: JSON.parse(reply).error };
  };
  const next = (bytes: number) => send({ input: input(bytes), previous_response_id: id });
  const refer = (bytes: number) => send({ input: [{ type: 'item_reference', id: item.id }, ...input(bytes)] });
  for (let time = 0; time < TIMES; time += 1) {
    expect(await next(1_000_000)).toEqual({ status: 200, error: null });
    expect(await next(LARGEST_BODY_BYTES - 1_000)).toMatchObject({ status: 400, error: { code: 'conversation_too_long' } });
    expect(await refer(1_000_000)).toEqual({ status: 200, error: null });
    expect(await refer(LARGEST_BODY_BYTES - 1_000)).toMatchObject({ status: 400, error: { param: 'input' } });
  }
  expectToFit();
});
