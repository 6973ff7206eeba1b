import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { MessageStreamEvent } from '../../../../functions/inference/messages/reply-schema.ts';
import { createMessageStream } from '../../../../functions/inference/messages/reply-stream.ts';
import { MessagesErrorBody } from '../../../../infra/tools/reference/error-reply.ts';
import { UpstreamFailed } from '../../../../shared/upstream/errors.ts';
import { randomAnswer } from '../idempotency/random-answers.ts';
import { callOf, chunkOf, ended, facts, readEvents, stream, usage } from './replies.ts';

const typesOf = (events: readonly { type: string }[]): string[] => events.map(({ type }) => type);
const firstBlock = (chunks: Parameters<typeof stream>[0][number]) =>
  stream([chunks]).find(({ type }) => type === 'content_block_start')?.content_block;

describe('a stream of a message', () => {
  test('has every event of a text in order, each with its name', () => {
    const events = stream([
      [chunkOf({ role: 'assistant', content: '' })],
      [chunkOf({ content: 'Hel' }), chunkOf({ content: 'lo\n"' })],
      [ended()],
    ]);
    expect(events).toEqual([
      {
        type: 'message_start',
        message: {
          id: facts.id,
          type: 'message',
          role: 'assistant',
          model: 'm',
          content: [],
          stop_reason: null,
          stop_sequence: null,
          usage: expect.objectContaining({ input_tokens: 7, output_tokens: 1 }),
        },
      },
      { type: 'ping' },
      { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
      { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'Hel' } },
      { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'lo\n"' } },
      { type: 'content_block_stop', index: 0 },
      {
        type: 'message_delta',
        delta: { stop_reason: 'end_turn', stop_sequence: null },
        usage: expect.objectContaining({ input_tokens: 5, output_tokens: 2 }),
      },
      { type: 'message_stop' },
    ]);
  });

  test('begins once and has only documented events, however the answer is split (bugs 14, 28)', () => {
    fc.assert(
      fc.property(fc.array(randomAnswer, { maxLength: 3 }), (batches) => {
        const events = stream(batches);
        for (const event of events) expect(MessageStreamEvent.parse(event)).toEqual(event);
        expect(typesOf(events).filter((type) => type.startsWith('message_'))).toEqual(['message_start', 'message_delta', 'message_stop']);
        expect(typesOf(events.slice(0, 2))).toEqual(['message_start', 'ping']);
      }),
    );
  });

  test.each([
    ['a thinking block for reasoning', [chunkOf({ content: '', reasoning: 'Hm' }), chunkOf({ content: 'Yes' })], 'thinking'],
    ['a tool_use block for a call', [chunkOf({ content: '' }), callOf(0, '{}', { name: 'f' })], 'tool_use'],
    ['a text block for text', [chunkOf({ content: 'Yes' })], 'text'],
  ])('begins with %s (bug 15)', (_, chunks, type) => {
    expect(firstBlock(chunks)).toMatchObject({ type });
  });

  test('has no block if the model wrote nothing, and still begins and ends (bug 15)', () => {
    const types = ['message_start', 'ping', 'message_delta', 'message_stop'];
    expect(typesOf(stream([[ended()]]))).toEqual(types);
    expect(typesOf(stream([]))).toEqual(types);
    expect(typesOf(stream([[]]))).toEqual(types);
  });

  test('loses no first token of a block, and repeats none (bugs 16, 29)', () => {
    const chunks = [
      chunkOf({ reasoning: 'A' }),
      chunkOf({ reasoning: 'B', content: 'C' }),
      chunkOf({ content: 'D' }),
      { choices: [{ index: 0, message: { reasoning: 'AB', content: 'CD' }, delta: {}, finish_reason: 'stop' }] },
      chunkOf({ content: 'late' }),
    ];
    const deltas = stream(chunks.map((chunk) => [chunk])).flatMap(({ delta }) => Object.entries(delta ?? {}));
    const joined = (name: string) =>
      deltas
        .filter(([key]) => key === name)
        .map(([, text]) => text)
        .join('');
    expect([joined('thinking'), joined('text')]).toEqual(['AB', 'CD']);
  });

  test('reports a failure in an error event of its own, and nothing after it (bug 31)', () => {
    const reply = createMessageStream(facts);
    const failed = reply.fail?.(new UpstreamFailed('upstream_error', 'secret'), 'req_1') ?? '';
    expect(failed).toMatch(/^event: error\ndata: \{"type":"error",[^\n]+\n\n$/);
    expect(readEvents(failed)).toEqual([
      {
        type: 'error',
        error: {
          type: 'api_error',
          message: expect.stringMatching(/failed to answer/),
          details: { error_code: 'upstream_error', param: null },
        },
        request_id: 'req_1',
      },
    ]);
    expect(MessagesErrorBody.parse(readEvents(failed)[0])).toEqual(readEvents(failed)[0]);
  });

  test('has no [DONE], and keeps the connection open with pings', () => {
    const reply = createMessageStream(facts);
    expect(reply.keepAlive).toBe('event: ping\ndata: {"type":"ping"}\n\n');
    expect(reply.take([chunkOf({ content: 'A' })]) + reply.usage(usage) + reply.end()).not.toContain('[DONE]');
  });
});
