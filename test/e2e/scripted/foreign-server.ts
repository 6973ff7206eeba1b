import { expect, test } from '@jest/globals';
import OpenAI from 'openai';
import { scripted } from './run.ts';

test('--container uses another OpenAI-compatible server under the published model name', async () => {
  const { container, walk } = await scripted.start();
  container.play({ text: 'Hello.' });
  const { api_key, base_url } = walk.run;
  const client = new OpenAI({ apiKey: api_key, baseURL: `${base_url}/v1` });
  const messages = [{ role: 'user' as const, content: 'Hello' }];
  const { choices, model } = await client.chat.completions.create({ model: 'sluice-tiny', messages, max_tokens: 1 });
  expect(model).toBe('sluice-tiny');
  expect(choices[0]?.message.content).toBe('Hello.');
});
