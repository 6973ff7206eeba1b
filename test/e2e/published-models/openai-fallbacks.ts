import { beforeAll, describe, expect, test } from '@jest/globals';
import OpenAI from 'openai';
import type { TestRun } from '../../support/clients/local-run.ts';
import { GONE, GONE_WITH_FALLBACK, publishedModels } from './run.ts';

let run: TestRun;
let client: OpenAI;
beforeAll(async () => {
  run = await publishedModels.start();
  client = new OpenAI({ apiKey: (await run.createKey()).secret, baseURL: `${run.base_url}/v1`, maxRetries: 0 });
});

const messages = [{ role: 'user' as const, content: 'What is a sluice?' }];
const ask = (model: string, models?: string[]) => ({ model, messages, max_tokens: 8, ...(models && { models }) });

describe('the official OpenAI client', () => {
  test('gets the answer of another model that it names in models, and its name', async () => {
    const { data, response } = await client.chat.completions.create(ask(GONE, [GONE, run.model])).withResponse();
    expect(data.model).toBe(run.model);
    expect(data.choices[0]?.message.content).toMatch(/\w/);
    expect(response.headers.get('x-sluice-fallback')).toBe('1');
  });

  test('gets it as a stream too, and as a response', async () => {
    const stream = await client.chat.completions.create({ ...ask(GONE, [run.model]), stream: true });
    const names = new Set<string>();
    for await (const chunk of stream) names.add(chunk.model);
    expect([...names]).toEqual([run.model]);
    const body = { model: GONE, models: [run.model], input: 'What is a sluice?', max_output_tokens: 16 };
    expect((await client.responses.create(body)).model).toBe(run.model);
  });

  test('gets the configured fallback of a model, unless it switches fallbacks off', async () => {
    expect((await client.chat.completions.create(ask(GONE_WITH_FALLBACK))).model).toBe(run.model);
    const off = client.chat.completions.create(ask(GONE_WITH_FALLBACK), { headers: { 'x-sluice-fallback': 'off' } });
    await expect(off).rejects.toMatchObject({ status: 503, code: 'model_not_ready' });
  });

  test('gets a 404 for an unknown name in models', async () => {
    await expect(client.chat.completions.create(ask(run.model, ['nobody']))).rejects.toMatchObject({ status: 404, param: 'models' });
  });
});
