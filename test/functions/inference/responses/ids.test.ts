import { describe, expect, test } from '@jest/globals';
import { idLike } from '../../../../shared/ids/id.ts';
import type { UpstreamChunk } from '../../../../shared/upstream/chunk.ts';
import { callDelta, chunkOf, ended, facts, stream, whole } from '../../../support/clients/responses-replies.ts';

// Every kind of item; the runtime gave the two calls no ids.
const chunks: UpstreamChunk[] = [
  chunkOf({ reasoning: 'Hm' }),
  chunkOf({ content: 'Let ' }),
  chunkOf({ content: 'me see.' }),
  callDelta(0, { function: { name: 'f', arguments: '{"x":' } }),
  callDelta(0, { function: { arguments: '1}' } }),
  callDelta(1, { function: { name: 'g', arguments: '{}' } }),
  ended('tool_calls'),
];
// The same answer in fewer chunks.
const merged: UpstreamChunk[] = [
  chunkOf({ reasoning: 'Hm' }),
  chunkOf({ content: 'Let me see.' }),
  callDelta(0, { function: { name: 'f', arguments: '{"x":1}' } }),
  callDelta(1, { function: { name: 'g', arguments: '{}' } }),
  ended('tool_calls'),
];

describe('the ids of a response', () => {
  test('are those of the first answer in a replay, with and without streaming', async () => {
    const { output } = await whole([chunks]);
    expect(output.map(({ type }) => type)).toEqual(['reasoning', 'message', 'function_call', 'function_call']);
    for (const again of [await whole([merged]), (await stream([merged])).at(-1)?.response, (await stream([chunks])).at(-1)?.response])
      expect(again?.output).toEqual(output);
  });

  test('are derived from the random part of the request’s, and are unique', async () => {
    const { output } = await whole([chunks]);
    const ids = output.flatMap(({ id, call_id }) => [id as string, ...(call_id === undefined ? [] : [call_id as string])]);
    expect(new Set(ids).size).toBe(6);
    for (const id of ids) expect(id).toContain(idLike('request', facts.requestId).slice('req_'.length));
  });
});
