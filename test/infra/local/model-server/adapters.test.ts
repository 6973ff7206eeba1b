import { expect, test } from '@jest/globals';
import { type Completion, type ErrorBody, MODEL_NAME, post, question, startContainer } from './fixtures.ts';

const HEADER = 'x-amzn-sagemaker-adapter-identifier';
const src = 's3://weights/adapter.tar.gz';

test('answers under the name of a loaded adapter, and SageMaker’s header wins over the body', async () => {
  await using started = new AsyncDisposableStack();
  const container = await startContainer({ loadsAdapters: true });
  started.defer(container.close);
  expect((await post(`${container.url}/adapters`, { name: 'legal', src })).status).toBe(200);
  expect((await post(`${container.url}/adapters`, { name: 'legal', src })).status).toBe(200);
  const ask = async (model: string, headers = {}): Promise<Completion> => {
    const body = JSON.stringify({ model, messages: question, temperature: 0, max_tokens: 20 });
    const reply = await fetch(`${container.url}/invocations`, { method: 'POST', headers, body });
    return (await reply.json()) as Completion;
  };
  const named = await ask('legal');
  expect(named).toMatchObject({ model: 'legal', choices: [{ message: { content: expect.stringMatching(/^legal: /) } }] });
  expect((await ask('another tenant’s', { [HEADER]: 'legal' })).choices).toEqual(named.choices);
  expect((await ask(MODEL_NAME)).choices[0]?.message.content).not.toContain('legal');
  const text = await post(`${container.url}/v1/completions`, { model: 'legal', prompt: 'A weir', max_tokens: 20 });
  expect(((await text.json()) as { choices: { text: string }[] }).choices[0]?.text).toMatch(/^legal: /);
});

test('refuses adapters that are not loaded, and loads none without being started for it', async () => {
  await using started = new AsyncDisposableStack();
  const container = await startContainer();
  started.defer(container.close);
  const loading = await post(`${container.url}/adapters`, { name: 'legal', src });
  expect([loading.status, ((await loading.json()) as ErrorBody).error.message]).toEqual([400, expect.stringContaining('--enable-lora')]);
  const body = JSON.stringify({ model: MODEL_NAME, messages: question });
  const unknown = await fetch(`${container.url}/invocations`, { method: 'POST', headers: { [HEADER]: 'legal' }, body });
  expect([unknown.status, ((await unknown.json()) as ErrorBody).error.message]).toEqual([404, 'The model `legal` does not exist.']);
});
