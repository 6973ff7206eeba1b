import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import type { UpstreamChunk } from '../../../shared/upstream/chunk.ts';
import { createStreamReader } from '../../../shared/upstream/read-stream.ts';

const chunk = (content: string, finish_reason: string | null = null): UpstreamChunk => ({
  choices: [{ index: 0, delta: { content }, finish_reason }],
});
const chunks = [
  chunk('Hél'),
  chunk('lo 👋🏽'),
  chunk(' {"a": "\n"}'),
  chunk('', 'stop'),
  { choices: [], usage: { prompt_tokens: 3, completion_tokens: 4 } },
];
const sse = `${chunks.map((data) => `data: ${JSON.stringify(data)}\n\n`).join('')}data: [DONE]\n\n`;

const read = (parts: Uint8Array[]): UpstreamChunk[] => {
  const reader = createStreamReader();
  return [...parts.flatMap((part) => reader.push(part)), ...reader.end()];
};
const readText = (text: string): UpstreamChunk[] => read([Buffer.from(text)]);

describe('a stream from a runtime', () => {
  test('reads the same however it is cut, also inside a character', () => {
    const bytes = Buffer.from(sse);
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 0, max: bytes.length }), { maxLength: 40 }), (cuts) => {
        const at = [0, ...cuts.sort((a, b) => a - b), bytes.length];
        expect(read(at.slice(1).map((end, i) => bytes.subarray(at[i], end)))).toEqual(chunks);
      }),
    );
    expect(read(Array.from(bytes, (byte) => Uint8Array.of(byte)))).toEqual(chunks);
  });

  test('reads carriage returns, comments, other fields and data without a space', () => {
    expect(
      readText(`: hello\r\nevent: message\r\nid: 1\r\ndata:${JSON.stringify(chunk('a', 'stop'))}\r\n\r\n:\r\n\r\ndata: [DONE]\r\n\r\n`),
    ).toEqual([chunk('a', 'stop')]);
  });

  test('reads data over several lines', () => {
    expect(readText(`data: {"choices":\ndata: [{"finish_reason":"stop","delta":{}}]}\n\ndata: [DONE]\n\n`)).toEqual([
      { choices: [{ finish_reason: 'stop', delta: {} }] },
    ]);
  });

  test('reads JSON lines, complete once a choice has finished', () => {
    expect(readText(`${JSON.stringify(chunk('a'))}\n${JSON.stringify(chunk('', 'stop'))}\n`)).toEqual([chunk('a'), chunk('', 'stop')]);
    expect(() => readText(`${JSON.stringify(chunk('a'))}\n`)).toThrow(expect.objectContaining({ code: 'upstream_error' }));
  });

  test('reads the one object of a runtime that does not stream', () => {
    const whole = {
      choices: [{ index: 0, message: { content: 'a' }, finish_reason: 'stop' }],
      usage: { prompt_tokens: 1, completion_tokens: 1 },
    };
    expect(readText(JSON.stringify(whole))[0]?.choices?.[0]?.delta).toEqual({ content: 'a' });
  });

  test('reads a last event without its empty line', () => {
    expect(readText(`data: ${JSON.stringify(chunk('a', 'stop'))}\n\ndata: [DONE]`)).toEqual([chunk('a', 'stop')]);
  });

  test.each([
    ['ends without its terminator', `data: ${JSON.stringify(chunk('a'))}\n\n`],
    ['is empty', ''],
    ['never says that it has finished', `data: ${JSON.stringify(chunk('a'))}\n\ndata: [DONE]\n\n`],
    ['was broken off by its runtime', `data: ${JSON.stringify(chunk('a', 'abort'))}\n\ndata: [DONE]\n\n`],
    ['holds what is not JSON', 'data: {nonsense\n\ndata: [DONE]\n\n'],
    ['holds an error and then the terminator', 'data: {"error":{"message":"boom"}}\n\ndata: [DONE]\n\n'],
  ])('that %s is a failure of the upstream', (_, text) => {
    expect(() => readText(text)).toThrow(expect.objectContaining({ status: 503, code: 'upstream_error' }));
  });

  test('with a line that never ends is given up', () => {
    const reader = createStreamReader();
    const part = Buffer.alloc(1024 * 1024, 'a');
    expect(() => {
      for (let i = 0; i < 9; i++) reader.push(part);
    }).toThrow(expect.objectContaining({ code: 'upstream_error' }));
  });
});
