import { createAnthropic } from '@ai-sdk/anthropic';
import Anthropic from '@anthropic-ai/sdk';
import { describe, expect, test } from '@jest/globals';
import OlderAnthropic from 'anthropic-sdk-0';
import { createMessageStream } from '../../../../functions/inference/messages/reply-stream.ts';
import type { UpstreamChunk } from '../../../../shared/upstream/chunk.ts';
import { UpstreamFailed } from '../../../../shared/upstream/errors.ts';
import { callOf, chunkOf, ended, facts, usage, whole } from './replies.ts';

const chunks: UpstreamChunk[] = [
  chunkOf({ role: 'assistant', content: '' }),
  chunkOf({ reasoning: 'H' }),
  chunkOf({ reasoning: 'm' }),
  chunkOf({ content: 'Let me ' }),
  chunkOf({ content: 'see.' }),
  callOf(0, '{"x":', { id: 'a', name: 'f' }),
  callOf(1, '', { id: 'b', name: 'g' }),
  callOf(0, '1}'),
  callOf(1, '{}'),
  chunkOf({ reasoning: 'So' }),
  ended('tool_calls'),
];

const request = { model: 'm', max_tokens: 100, messages: [{ role: 'user' as const, content: 'Hi' }] };
const sseOf = (parts: readonly string[]) => async () =>
  new Response(parts.join(''), { headers: { 'content-type': 'text/event-stream; charset=utf-8', 'request-id': 'req_1' } });

describe.each([
  ['1.x', Anthropic],
  ['0.x', OlderAnthropic as unknown as typeof Anthropic],
])('the events of a message for @anthropic-ai/sdk %s', (_, Client) => {
  const clientFor = (parts: readonly string[]) => new Client({ apiKey: 'k', maxRetries: 0, fetch: sseOf(parts) });

  test('make the message that a whole reply is', async () => {
    const reply = createMessageStream(facts);
    const parts = [...chunks.map((chunk) => reply.take([chunk])), reply.keepAlive ?? '', reply.usage(usage), reply.end()];
    const stream = clientFor(parts).messages.stream(request);
    const { id, content, stop_reason, stop_sequence, usage: used } = await stream.finalMessage();
    const expected = whole(chunks);
    expect({ id, stop_reason, stop_sequence }).toEqual({ id: expected.id, stop_reason: 'tool_use', stop_sequence: null });
    expect(content).toEqual(expected.content);
    expect(used).toMatchObject({ input_tokens: 5, output_tokens: 2, cache_read_input_tokens: 0 });
    expect(stream.request_id).toBe('req_1');
  });

  test('raise an error that ends a stream, with its body', async () => {
    const reply = createMessageStream(facts);
    const failure = reply.fail?.(new UpstreamFailed('no_capacity', ''), 'req_1') ?? '';
    const stream = clientFor([reply.take([chunkOf({ content: 'Hel' })]), failure]).messages.stream(request);
    await expect(stream.finalMessage()).rejects.toMatchObject({
      error: { type: 'error', error: { type: 'overloaded_error', details: { error_code: 'no_capacity' } }, request_id: 'req_1' },
    });
  });
});

describe('the events of a message for @ai-sdk/anthropic', () => {
  const partsOf = async (parts: readonly string[]) => {
    const provider = createAnthropic({ apiKey: 'k', baseURL: 'http://localhost/v1', fetch: sseOf(parts) });
    const { stream } = await provider('m').doStream({ prompt: [{ role: 'user', content: [{ type: 'text', text: 'Hi' }] }] });
    const received = [];
    for await (const part of stream) received.push(part);
    return received;
  };

  test('fit its schemas', async () => {
    const reply = createMessageStream(facts);
    const parts = await partsOf([...chunks.map((chunk) => reply.take([chunk])), reply.usage(usage), reply.end()]);
    expect(parts.filter(({ type }) => type === 'error')).toEqual([]);
    expect(parts.filter(({ type }) => type === 'tool-call')).toMatchObject([
      { toolCallId: 'a', toolName: 'f', input: '{"x":1}' },
      { toolCallId: 'b', toolName: 'g', input: '{}' },
    ]);
    expect(parts.at(-1)).toMatchObject({ type: 'finish', finishReason: { unified: 'tool-calls' }, usage: { outputTokens: { total: 2 } } });
  });

  test('have an error that it reads', async () => {
    const reply = createMessageStream(facts);
    const failure = reply.fail?.(new UpstreamFailed('no_capacity', ''), 'req_1') ?? '';
    const parts = await partsOf([reply.take([chunkOf({ content: 'Hel' })]), failure]);
    expect(parts.filter(({ type }) => type === 'error')).toMatchObject([{ error: { type: 'overloaded_error' } }]);
  });
});
