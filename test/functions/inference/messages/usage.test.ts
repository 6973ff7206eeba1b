import { describe, expect, test } from '@jest/globals';
import { usageOf } from '../../../../functions/inference/messages/reply.ts';
import { MessageUsage } from '../../../../functions/inference/messages/reply-schema.ts';
import type { UpstreamUsage } from '../../../../shared/upstream/chunk.ts';
import { chunkOf, ended, stream, whole } from './replies.ts';

const cached: UpstreamUsage = {
  prompt_tokens: 100,
  completion_tokens: 40,
  prompt_tokens_details: { cached_tokens: 64 },
  completion_tokens_details: { reasoning_tokens: 30 },
};
const chunks = [chunkOf({ content: 'A' }), ended()];
const usagesOf = (events: ReturnType<typeof stream>) => [events[0]?.message?.usage, events.at(-2)?.usage];

describe('the usage of a message', () => {
  test('has the cached tokens apart, so that the three counts add up to the prompt (bug 8)', () => {
    const { input_tokens, cache_creation_input_tokens, cache_read_input_tokens } = usageOf(cached);
    expect([input_tokens, cache_creation_input_tokens, cache_read_input_tokens]).toEqual([36, 0, 64]);
  });

  test('has no cache writes, which have no price of their own, also if the runtime counts them', () => {
    const written = { ...cached, prompt_tokens_details: { cached_tokens: 64, created_cache_tokens: 32 } };
    expect(usageOf(written)).toEqual(usageOf(cached));
  });

  test('has all keys at the start and at the end of a stream (bug 19)', () => {
    for (const usage of usagesOf(stream([chunks], { usage: cached }))) expect(MessageUsage.parse(usage)).toEqual(usage);
  });

  test('has the estimated input at the start and the counted one at the end (bug 20)', () => {
    const [start, end] = usagesOf(stream([chunks], { usage: cached, facts: { promptTokens: 90 } }));
    expect(start).toMatchObject({ input_tokens: 90, output_tokens: 1 });
    expect(end).toMatchObject({
      input_tokens: 36,
      cache_read_input_tokens: 64,
      output_tokens: 40,
      output_tokens_details: { thinking_tokens: 30 },
    });
  });

  test('has the runtime’s input at the start if the runtime sends it with the first tokens', () => {
    const first = { ...chunkOf({ content: 'A' }), usage: { prompt_tokens: 100, completion_tokens: 1 } };
    expect(usagesOf(stream([[first], [ended()]], { usage: cached }))[0]).toMatchObject({ input_tokens: 100 });
  });

  test.each<[string, object]>([
    ['an object', { prompt_tokens: { toString: 1 } }],
    ['text', { prompt_tokens: 'many' }],
    ['a negative number', { prompt_tokens: -5 }],
    ['a fraction', { prompt_tokens: 1.5 }],
    ['too large for an integer', { prompt_tokens: 1e300 }],
  ])('has the estimated input at the start if the runtime’s count is %s', (_, counted) => {
    const [start] = usagesOf(
      stream([[{ ...chunkOf({ content: 'A' }), usage: counted as UpstreamUsage }]], { facts: { promptTokens: 90 } }),
    );
    expect(start).toMatchObject({ input_tokens: 90, cache_read_input_tokens: 0, output_tokens: 1 });
  });

  test('is the same in a whole reply', () => {
    expect(whole(chunks, { usage: cached }).usage).toEqual(usageOf(cached));
  });

  test.each([
    ['no details', { prompt_tokens: 5, completion_tokens: 2 }, { input_tokens: 5, cache_read_input_tokens: 0, output_tokens: 2 }],
    ['nothing', {}, { input_tokens: 0, output_tokens: 0 }],
    ['details that are null', { prompt_tokens: 5, prompt_tokens_details: null }, { input_tokens: 5, cache_read_input_tokens: 0 }],
    [
      'counts of details that are none',
      { prompt_tokens: 5, prompt_tokens_details: { cached_tokens: -2 }, completion_tokens_details: { reasoning_tokens: 0.5 } },
      { input_tokens: 5, cache_read_input_tokens: 0, output_tokens_details: { thinking_tokens: 0 } },
    ],
    [
      'too many cached tokens',
      { prompt_tokens: 5, prompt_tokens_details: { cached_tokens: 9 } },
      { input_tokens: 0, cache_read_input_tokens: 5 },
    ],
  ])('can be read from a runtime’s usage with %s', (_, usage, expected) => {
    expect(usageOf(usage)).toMatchObject(expected);
    expect(MessageUsage.parse(usageOf(usage))).toEqual(usageOf(usage));
  });
});
