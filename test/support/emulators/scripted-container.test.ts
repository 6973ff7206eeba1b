import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import OpenAI from 'openai';
import { type ScriptedContainer, startScriptedContainer } from './scripted-container.ts';

let container: ScriptedContainer;
let client: OpenAI;
beforeAll(async () => {
  container = await startScriptedContainer();
  client = new OpenAI({ baseURL: `${container.url}/v1`, apiKey: 'none', maxRetries: 0 });
});
afterAll(async () => {
  await container.close();
});

const ask = (content: string) =>
  client.chat.completions.stream({ model: 'scripted', messages: [{ role: 'user', content }], stream_options: { include_usage: true } });

describe('startScriptedContainer', () => {
  test('lists its model', async () => {
    const models = await client.models.list();
    expect(models.data).toMatchObject([{ id: 'scripted' }]);
  });

  test('plays an answer with text, calls and usage, and records the request', async () => {
    const text = 'One answer that is longer than a piece.';
    container.play({ reasoning: 'Hm.', text, calls: [{ name: 'read', arguments: { file: 'a name longer than a piece' } }] });
    const completion = await ask('Hello').finalChatCompletion();
    expect(completion.choices[0]).toMatchObject({
      finish_reason: 'tool_calls',
      message: { content: text, tool_calls: [{ function: { name: 'read', arguments: '{"file":"a name longer than a piece"}' } }] },
    });
    expect(completion.usage).toMatchObject({ prompt_tokens: expect.any(Number), completion_tokens: 7 });
    expect(container.requests).toMatchObject([{ messages: [{ role: 'user', content: 'Hello' }], stream: true }]);
  });

  test('makes a step from the request, with broken arguments sent as they are', async () => {
    container.play(({ messages }) => ({ calls: [{ id: 'c', name: String(messages[0]?.content), arguments: '{"a":' }], finish: 'length' }));
    const chunks = [];
    for await (const { choices } of await ask('write')) chunks.push(choices[0]?.delta.tool_calls?.[0]);
    expect(chunks).toContainEqual({ index: 0, id: 'c', type: 'function', function: { name: 'write', arguments: '{"a":' } });
  });

  test('breaks off, refuses, and refuses what the script does not have', async () => {
    container.play({ text: 'This text does not arrive whole.', diesAfterChunks: 2 }, { status: 503, message: 'Busy.' });
    await expect(ask('a').finalChatCompletion()).rejects.toThrow();
    await expect(ask('b').finalChatCompletion()).rejects.toMatchObject({ status: 503, message: expect.stringContaining('Busy.') });
    await expect(ask('c').finalChatCompletion()).rejects.toMatchObject({ status: 400 });
  });
});
