import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import OpenAI from 'openai';
import { SERVERLESS_POOL } from '../../../shared/models/model-store.ts';
import { startTestRun, type TestRun } from '../../support/clients/local-run.ts';

let run: TestRun;
let client: OpenAI;
beforeAll(async () => {
  run = await startTestRun();
  // The role allows nothing of an endpoint that does not exist.
  run.expectDenial('sagemaker:InvokeEndpoint');
  const tiny = await run.models.get(SERVERLESS_POOL, run.model);
  if (!tiny) throw new Error('The local run has no model.');
  const targets: typeof tiny.targets = [{ endpoint: 'deleted', weight: 1 }];
  await run.models.put(SERVERLESS_POOL, { ...tiny, name: 'gone', targets });
  await run.models.put(SERVERLESS_POOL, { ...tiny, name: 'gone-with-fallback', targets, fallbacks: [run.model] });
  client = new OpenAI({ apiKey: (await run.createKey()).secret, baseURL: `${run.base_url}/v1`, maxRetries: 0 });
});
afterAll(() => run.close());

const messages = [{ role: 'user' as const, content: 'What is a sluice?' }];
const ask = (model: string, models?: string[]) => ({ model, messages, max_tokens: 8, ...(models && { models }) });

describe('the official OpenAI client', () => {
  test('gets the answer of another model that it names in models, and its name', async () => {
    const { data, response } = await client.chat.completions.create(ask('gone', ['gone', run.model])).withResponse();
    expect(data.model).toBe(run.model);
    expect(data.choices[0]?.message.content).toMatch(/\w/);
    expect(response.headers.get('x-sluice-fallback')).toBe('1');
  });

  test('gets it as a stream too, and as a response', async () => {
    const stream = await client.chat.completions.create({ ...ask('gone', [run.model]), stream: true });
    const names = new Set<string>();
    for await (const chunk of stream) names.add(chunk.model);
    expect([...names]).toEqual([run.model]);
    const body = { model: 'gone', models: [run.model], input: 'What is a sluice?', max_output_tokens: 16 };
    expect((await client.responses.create(body)).model).toBe(run.model);
  });

  test('gets the configured fallback of a model, unless it switches fallbacks off', async () => {
    expect((await client.chat.completions.create(ask('gone-with-fallback'))).model).toBe(run.model);
    const off = client.chat.completions.create(ask('gone-with-fallback'), { headers: { 'x-sluice-fallback': 'off' } });
    await expect(off).rejects.toMatchObject({ status: 503, code: 'model_not_ready' });
  });

  test('gets a 404 for an unknown name in models', async () => {
    await expect(client.chat.completions.create(ask(run.model, ['nobody']))).rejects.toMatchObject({ status: 404, param: 'models' });
  });
});
