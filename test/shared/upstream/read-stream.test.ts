import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import type { UpstreamChunk } from '../../../shared/upstream/chunk.ts';
import { toUpstreamError } from '../../../shared/upstream/errors.ts';
import { createStreamReader } from '../../../shared/upstream/read-stream.ts';
import { keptBytes } from '../../support/kept-bytes.ts';

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

const read = (parts: Uint8Array[], choices = 1): UpstreamChunk[] => {
  const reader = createStreamReader(choices);
  const chunks = [...parts.flatMap((part) => reader.push(part)), ...reader.end()];
  const failure = reader.failure();
  if (failure) throw failure;
  return chunks;
};
const readText = (text: string, choices = 1): UpstreamChunk[] => read([Buffer.from(text)], choices);

describe('a stream from a runtime', () => {
  test('reads the same however it is split, even inside a character', () => {
    const bytes = Buffer.from(sse);
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 0, max: bytes.length }), { maxLength: 40 }), (cuts) => {
        const at = [0, ...cuts.sort((a, b) => a - b), bytes.length];
        expect(read(at.slice(1).map((end, i) => bytes.subarray(at[i], end)))).toEqual(chunks);
      }),
    );
    expect(read(Array.from(bytes, (byte) => Uint8Array.of(byte)))).toEqual(chunks);
  });

  test('reads an event in a part of its own as it reads the same bytes one by one, whatever is around it', () => {
    /** The chunks and, if it fails, the error's message. */
    const outcomeOf = (parts: Uint8Array[]): unknown => {
      const reader = createStreamReader();
      const taken: UpstreamChunk[] = [];
      try {
        for (const part of parts) taken.push(...reader.push(part));
        taken.push(...reader.end());
      } catch (error) {
        return [taken, String(error)];
      }
      return [taken, String(reader.failure())];
    };
    const event = (content: string): string => `data: ${JSON.stringify(chunk(content))}\n\n`;
    const around = [
      'event: error\n',
      'data: {"a":\n',
      'data: ',
      '\n',
      ' ',
      ': comment\n\n',
      'data: [DONE]\n\n',
      `${event('x')}${event('y')}`,
    ];
    const anyPart = fc.oneof({ weight: 3, arbitrary: fc.string({ maxLength: 3 }).map(event) }, fc.constantFrom(...around));
    fc.assert(
      fc.property(fc.array(anyPart, { maxLength: 8 }), (parts) => {
        const texts = [event('a'), event('b'), ...parts];
        const bytes = Buffer.from(texts.join(''));
        expect(outcomeOf(texts.map((text) => Buffer.from(text)))).toEqual(outcomeOf(Array.from(bytes, (byte) => Uint8Array.of(byte))));
      }),
      { numRuns: 1_000 },
    );
  });

  test('reads carriage returns, comments, other fields and data without a space', () => {
    expect(
      readText(`: hello\r\nevent: message\r\nid: 1\r\ndata:${JSON.stringify(chunk('a', 'stop'))}\r\n\r\n:\r\n\r\ndata: [DONE]\r\n\r\n`),
    ).toEqual([chunk('a', 'stop')]);
  });

  test('reads data that spans several lines', () => {
    expect(readText(`data: {"choices":\ndata: [{"finish_reason":"stop","delta":{}}]}\n\ndata: [DONE]\n\n`)).toEqual([
      { choices: [{ finish_reason: 'stop', delta: {} }] },
    ]);
  });

  test('reads JSON lines, complete once a choice has finished', () => {
    expect(readText(`${JSON.stringify(chunk('a'))}\n${JSON.stringify(chunk('', 'stop'))}\n`)).toEqual([chunk('a'), chunk('', 'stop')]);
    expect(() => readText(`${JSON.stringify(chunk('a'))}\n`)).toThrow(expect.objectContaining({ code: 'upstream_error' }));
  });

  test('reads the object of a runtime that does not stream', () => {
    const whole = {
      choices: [{ index: 0, message: { content: 'a' }, finish_reason: 'stop' }],
      usage: { prompt_tokens: 1, completion_tokens: 1 },
    };
    expect(readText(JSON.stringify(whole))[0]?.choices?.[0]?.delta).toEqual({ content: 'a' });
  });

  test('reads a last event without an empty line after it', () => {
    expect(readText(`data: ${JSON.stringify(chunk('a', 'stop'))}\n\ndata: [DONE]`)).toEqual([chunk('a', 'stop')]);
  });

  const failureOf = (text: string): unknown => {
    try {
      return readText(text);
    } catch (error) {
      return toUpstreamError(error);
    }
  };

  test.each([
    ['ends without its terminator', `data: ${JSON.stringify(chunk('a'))}\n\n`],
    ['is empty', ''],
    ['never finishes a choice', `data: ${JSON.stringify(chunk('a'))}\n\ndata: [DONE]\n\n`],
    ['was aborted by its runtime', `data: ${JSON.stringify(chunk('a', 'abort'))}\n\ndata: [DONE]\n\n`],
    ['has an event that is not JSON', 'data: {nonsense\n\ndata: [DONE]\n\n'],
    ['has an error event', 'event: error\ndata: {"message":"boom"}\n\ndata: [DONE]\n\n'],
    ['has an error field', 'error: {"code":500,"message":"boom"}\n\n'],
    ['has JSON that is not an object', 'data: 5\n\ndata: [DONE]\n\n'],
    ['has an error and then the terminator', 'data: {"error":{"message":"boom"}}\n\ndata: [DONE]\n\n'],
    ['has an error of the runtime’s own', 'data: {"error":{"message":"boom","code":500}}\n\ndata: [DONE]\n\n'],
    ['has an error after its first word', `data: ${JSON.stringify(chunk('a'))}\n\ndata: {"error":{"message":"bad","code":400}}\n\n`],
  ])('is a failure of the upstream if it %s', (_, text) => {
    expect(failureOf(text)).toMatchObject({ status: 503, code: 'upstream_error' });
  });

  const role = `data: ${JSON.stringify({ choices: [{ index: 0, delta: { role: 'assistant', content: '' }, finish_reason: null }] })}\n\n`;
  const refusal = { message: 'logit_bias is wrong', type: 'BadRequestError', param: 'logit_bias', code: 400 };
  test.each([
    ['as vLLM does', `data: ${JSON.stringify({ error: refusal })}\n\ndata: [DONE]\n\n`],
    ['after the role', `${role}data: ${JSON.stringify({ error: refusal })}\n\ndata: [DONE]\n\n`],
    ['in an error event', `event: error\ndata: ${JSON.stringify(refusal)}\n\n`],
    ['in an error field', `error: ${JSON.stringify(refusal)}\n\n`],
  ])('is a 400 if it rejects the request before its first word: %s', (_, text) => {
    expect(failureOf(text)).toMatchObject({ status: 400, param: 'logit_bias', message: 'logit_bias is wrong' });
  });

  test('has no capacity if it says so before its first word', () => {
    expect(failureOf('data: {"error":{"message":"busy","code":429}}\n\n')).toMatchObject({ status: 503, code: 'no_capacity' });
  });

  test('returns the chunks before a failure in the same part, and then fails', () => {
    const reader = createStreamReader();
    expect(reader.push(Buffer.from(`data: ${JSON.stringify(chunk('a'))}\n\ndata: {"error":"boom"}\n\n`))).toEqual([chunk('a')]);
    expect(reader.failure()).toMatchObject({ code: 'upstream_error' });
    expect(() => reader.push(Buffer.from('data: [DONE]\n\n'))).toThrow(expect.objectContaining({ code: 'upstream_error' }));
  });

  test('is complete without its terminator if every choice has finished and the usage was sent', () => {
    const counted = { choices: [], usage: { prompt_tokens: 1, completion_tokens: 1 } };
    const text = [chunk('a', 'stop'), counted].map((data) => `data: ${JSON.stringify(data)}\n\n`).join('');
    expect(readText(text)).toHaveLength(2);
  });

  test('is complete when each of its choices is', () => {
    const end = (index: number) => `data: ${JSON.stringify({ choices: [{ index, delta: {}, finish_reason: 'stop' }] })}\n\n`;
    expect(readText(`${end(0)}${end(1)}data: [DONE]\n\n`, 2)).toHaveLength(2);
    expect(() => readText(`${end(0)}${end(0)}data: [DONE]\n\n`, 2)).toThrow(expect.objectContaining({ code: 'upstream_error' }));
  });

  test('reads the same however it is split, with any content in any form', () => {
    const anyChunk = fc.record({
      choices: fc.array(fc.record({ index: fc.nat(1), delta: fc.record({ content: fc.string({ unit: 'grapheme' }) }) }), { maxLength: 3 }),
      unknown: fc.json(),
    });
    const end = { choices: [0, 1].map((index) => ({ index, delta: {}, finish_reason: 'stop' })) };
    const form = fc.record({ newline: fc.constantFrom('\n', '\r\n'), asLines: fc.boolean(), comments: fc.boolean() });
    fc.assert(
      fc.property(
        fc.array(anyChunk, { maxLength: 8 }),
        form,
        fc.array(fc.nat(), { maxLength: 30 }),
        (sent, { newline, asLines, comments }, cuts) => {
          const events = [...sent, end].map((data) => (asLines ? JSON.stringify(data) : `data: ${JSON.stringify(data)}${newline}`));
          const text = [...events, ...(asLines ? [] : [`data: [DONE]${newline}`])]
            .flatMap((event) => (comments ? [`: here${newline}`, event] : [event]))
            .map((event) => event + newline)
            .join('');
          const bytes = Buffer.from(text);
          const at = [0, ...cuts.map((cut) => cut % bytes.length).sort((a, b) => a - b), bytes.length];
          const parts = at.slice(1).map((to, i) => bytes.subarray(at[i], to));
          expect(read(parts, 2)).toEqual(JSON.parse(JSON.stringify([...sent, end])));
        },
      ),
    );
  });

  test('can have an event of megabytes in small parts', () => {
    const size = 100;
    const big = Buffer.from(`data: ${JSON.stringify(chunk('x'.repeat(3_000_000), 'stop'))}\n\ndata: [DONE]\n\n`);
    const parts = Array.from({ length: Math.ceil(big.length / size) }, (_, i) => big.subarray(i * size, (i + 1) * size));
    expect(read(parts)).toEqual([chunk('x'.repeat(3_000_000), 'stop')]);
  });

  test('fails if a line never ends', () => {
    const reader = createStreamReader();
    const part = Buffer.alloc(1024 * 1024, 'a');
    expect(() => {
      for (let i = 0; i < 9; i++) reader.push(part);
    }).toThrow(expect.objectContaining({ code: 'upstream_error' }));
  });
});

test('keeps nothing of a reader in memory after its stream', () => {
  const url = import.meta.resolve('../../../shared/upstream/read-stream.ts');
  expect(keptBytes<typeof import('../../../shared/upstream/read-stream.ts')>(url, (module) => module.createStreamReader())).toBeLessThan(
    100,
  );
});
