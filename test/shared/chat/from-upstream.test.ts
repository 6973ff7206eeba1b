import { describe, expect, test } from '@jest/globals';
import { createChatCompletion, createChatStream } from '../../../shared/chat/from-upstream.ts';
import type { UpstreamChunk } from '../../../shared/upstream/chunk.ts';

const facts = { id: 'chatcmpl-1', created: 1_700_000_000, model: 'a "model"' };
const upstream: UpstreamChunk[] = [
  { choices: [{ index: 0, delta: { role: 'assistant', content: '' } }] },
  { choices: [{ index: 0, delta: { content: 'Hel' } }] },
  { choices: [{ index: 0, delta: { content: 'lo\n"' } }] },
  { choices: [{ index: 0, delta: {}, finish_reason: 'length' }] },
  { choices: [], usage: { prompt_tokens: 5, completion_tokens: 2 } },
];
const usage = { prompt_tokens: 5, completion_tokens: 2 };

const events = (text: string): unknown[] =>
  text
    .split('\n\n')
    .filter(Boolean)
    .map((event) => JSON.parse(event.slice('data: '.length)));

const stream = (includeUsage: boolean, chunks = upstream): unknown[] => {
  const reply = createChatStream(facts, includeUsage);
  return events(reply.take(chunks) + reply.usage(usage));
};
const base = { id: 'chatcmpl-1', object: 'chat.completion.chunk', created: 1_700_000_000, model: 'a "model"' };
const choice = (delta: object, finish_reason: string | null = null): object => ({ index: 0, delta, logprobs: null, finish_reason });

describe('a chat completion stream', () => {
  test('has the role first, then the text, then one finish, and no usage unless asked', () => {
    expect(stream(false)).toEqual([
      { ...base, choices: [choice({ role: 'assistant', content: '' })] },
      { ...base, choices: [choice({ content: 'Hel' })] },
      { ...base, choices: [choice({ content: 'lo\n"' })] },
      { ...base, choices: [choice({}, 'length')] },
    ]);
  });

  test('when usage is asked, it comes last, and is null before', () => {
    const all = stream(true) as { usage: unknown; choices: unknown[] }[];
    expect(all.slice(0, -1).every((event) => event.usage === null)).toBe(true);
    expect(all.at(-1)).toEqual({
      ...base,
      choices: [],
      usage: { prompt_tokens: 5, completion_tokens: 2, total_tokens: 7, prompt_tokens_details: null },
    });
  });

  test('sends the role first even if the runtime never says it', () => {
    expect(stream(false, [{ choices: [{ delta: { content: 'a' } }] }])[0]).toEqual({
      ...base,
      choices: [choice({ role: 'assistant', content: '' })],
    });
  });

  test('tells an unknown finish reason as stop, and nothing after it', () => {
    const all = stream(false, [
      { choices: [{ delta: { content: 'a' }, finish_reason: 'eos' }] },
      { choices: [{ delta: { content: 'b' }, finish_reason: 'stop' }] },
    ]);
    expect(all).toHaveLength(3);
    expect(all.at(-1)).toEqual({ ...base, choices: [choice({}, 'stop')] });
  });
});

describe('a chat completion in one piece', () => {
  test('holds what the stream holds', () => {
    const reply = createChatCompletion(facts);
    reply.take(upstream);
    expect(reply.whole(usage)).toEqual({
      id: 'chatcmpl-1',
      object: 'chat.completion',
      created: 1_700_000_000,
      model: 'a "model"',
      choices: [
        {
          index: 0,
          message: { role: 'assistant', content: 'Hello\n"', refusal: null, annotations: [] },
          logprobs: null,
          finish_reason: 'length',
        },
      ],
      usage: { prompt_tokens: 5, completion_tokens: 2, total_tokens: 7, prompt_tokens_details: null },
    });
  });
});
