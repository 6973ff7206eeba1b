import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { type DocumentedReplies, documentedReplies } from '../../support/clients/documented-replies.ts';
import { shareTestRun, type TestRun } from '../../support/clients/local-run.ts';
import type { Json } from '../../support/clients/schemas.ts';

let run: TestRun;
let checkReply: DocumentedReplies['checkReply'];
let operationOf: DocumentedReplies['operationOf'];
beforeAll(async () => {
  run = await shareTestRun();
  ({ checkReply, operationOf } = await documentedReplies(run));
});
afterEach(async () => {
  await run.control('container');
  await run.control('sagemaker');
});
afterAll(async () => {
  await run.close();
});

const ask = { model: 'sluice-tiny', prompt: 'The river runs', max_tokens: 6 };
const COMPLETIONS = '/v1/completions';

// The example names the local run's model, and token ids of its small vocabulary.
const forOurModel = (example: object): Json =>
  JSON.parse(JSON.stringify({ ...example, model: 'sluice-tiny' }), (key, value) =>
    /^\d+$/.test(key) && typeof value === 'number' ? value % 2_000 : value,
  );

describe('completions', () => {
  test.each([
    ['for one prompt', {}],
    ['for several prompts', { prompt: ['The river', 'The harbour'], n: 2, temperature: 1 }],
    ['with log probabilities of an echo', { echo: true, logprobs: 1 }],
    ['with an echo alone', { echo: true, max_tokens: 0, logprobs: 0 }],
    ['with token ids and measurements', { return_token_ids: true, perf_metrics_in_response: true }],
    ['that a stop string ends', { stop: [' '], max_tokens: 20 }],
    ['with fields that have no effect', { best_of: 2, my_property: 1 }],
  ])('match the OpenAPI document %s', async (_, change) => {
    expect(await checkReply(COMPLETIONS, 'post', { body: { ...ask, ...change } })).toMatchObject({ status: 200 });
    const streamed = await checkReply(COMPLETIONS, 'post', {
      body: { ...ask, ...change, stream: true, stream_options: { include_usage: true } },
    });
    expect(streamed).toMatchObject({ status: 200, isDone: true, value: { choices: [] } });
  });

  test('match the OpenAPI document for every example request', async () => {
    const { examples } = operationOf(COMPLETIONS, 'post').requestBody.content['application/json'];
    for (const { value } of Object.values(examples))
      expect(await checkReply(COMPLETIONS, 'post', { body: forOurModel(value) })).toMatchObject({ status: 200 });
  });

  test.each([
    [400, { temperature: 3 }, undefined],
    [401, {}, 'sk-nonsense'],
    [404, { model: 'nope' }, undefined],
  ])('match the OpenAPI document when the request fails with %i', async (status, change, key) => {
    expect(await checkReply(COMPLETIONS, 'post', { body: { ...ask, ...change }, ...(key && { key }) })).toMatchObject({ status });
  });

  test('match the OpenAPI document when a suffix, a model, a limit or missing capacity rejects them', async () => {
    const { secret: elsewhere } = await run.createKey({ models: ['other'] });
    const { secret: poor } = await run.createKey({ requests_per_minute: 0 });
    const refused = (change: Json, key = run.api_key) => checkReply(COMPLETIONS, 'post', { body: { ...ask, ...change }, key });
    expect(await refused({ suffix: 'the end' })).toMatchObject({ status: 400, value: { error: { param: 'suffix' } } });
    expect(await refused({}, elsewhere)).toMatchObject({ status: 403 });
    expect(await refused({}, poor)).toMatchObject({ status: 429 });
    await run.control('sagemaker', { fault: { kind: 'throttling' } });
    expect(await refused({})).toMatchObject({ status: 503 });
  });

  test('match the OpenAPI document when a stream fails midway', async () => {
    await run.control('container', { fault: { kind: 'destroy', after_tokens: 5, times: 1 } });
    const { value, isDone } = await checkReply(COMPLETIONS, 'post', { body: { ...ask, max_tokens: 40, stream: true } });
    expect({ value, isDone }).toMatchObject({ value: { error: { code: 'upstream_error' } }, isDone: false });
  });
});

describe('token replies', () => {
  test('match the OpenAPI document for a text, for its tokens, and for the tokens as a prompt', async () => {
    const requestBody = { model: 'sluice-tiny', prompt: 'The river runs' };
    const { value } = await checkReply('/tokenize', 'post', { body: { ...requestBody, return_token_strs: true, my_property: 1 } });
    const { tokens } = value as { tokens: number[] };
    expect(value).toMatchObject({ count: tokens.length, token_strs: tokens.map(() => expect.any(String)) });
    expect((await checkReply('/detokenize', 'post', { body: { model: 'sluice-tiny', tokens } })).value).toEqual({
      prompt: requestBody.prompt,
    });
    for (const prompt of [tokens, [tokens, tokens]])
      expect(await checkReply(COMPLETIONS, 'post', { body: { ...ask, prompt } })).toMatchObject({ status: 200 });
  });

  test.each([
    ['/tokenize', { prompt: 'a' }],
    ['/detokenize', { tokens: [1] }],
  ])('match the OpenAPI document when %s rejects a key, a model or a request over the limit', async (path, body) => {
    const { secret: elsewhere } = await run.createKey({ models: ['other'] });
    const { secret: poor } = await run.createKey({ requests_per_minute: 0 });
    const refused = async (key = run.api_key, model = 'sluice-tiny') =>
      (await checkReply(path, 'post', { body: { model, ...body }, key })).status;
    expect(await refused('sk-nonsense')).toBe(401);
    expect(await refused(elsewhere)).toBe(403);
    expect(await refused(run.api_key, 'nope')).toBe(404);
    expect(await refused(poor)).toBe(429);
  });

  test('match the OpenAPI document for every example request, there and back', async () => {
    for (const path of ['/tokenize', '/detokenize']) {
      const { examples } = operationOf(path, 'post').requestBody.content['application/json'];
      for (const { value } of Object.values(examples))
        expect(await checkReply(path, 'post', { body: forOurModel(value) })).toMatchObject({ status: 200 });
    }
  });

  test.each([
    ['/tokenize', { prompt: 'a', messages: [] }],
    ['/tokenize', {}],
    ['/detokenize', { tokens: [999_999] }],
    ['/detokenize', { tokens: 'a' }],
  ])('match the OpenAPI document when %s rejects %j', async (path, body) => {
    expect(await checkReply(path, 'post', { body: { model: 'sluice-tiny', ...body } })).toMatchObject({ status: 400 });
  });
});
