import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import * as z from 'zod';
import { UsageInfo } from '../../../../functions/inference/chat/reply-schema.ts';
import { createRecording } from '../../../../functions/inference/idempotency/recording.ts';
import { MessageUsage } from '../../../../functions/inference/messages/reply-schema.ts';
import { createTally } from '../../../../functions/inference/pipeline/tally.ts';
import { compareAnswers } from '../../../../functions/inference/shadow/compare-answers.ts';
import { observeAnswer } from '../../../../functions/inference/shadow/observe-answer.ts';
import { ApiError } from '../../../../shared/http/errors.ts';
import { ResponseReply } from '../../../../shared/responses/reply-schema.ts';
import type { UpstreamChunk } from '../../../../shared/upstream/chunk.ts';
import { toUpstreamError } from '../../../../shared/upstream/errors.ts';
import { createStreamReader } from '../../../../shared/upstream/read-stream.ts';
import { sized } from '../../../support/sized.ts';
import { routes } from '../idempotency/routes.ts';
import { anyValue, malformed, toJson } from '../malformed-json.ts';

const RUNS = sized(300, 1_500);

const folder = path.join(import.meta.dirname, '../idempotency/recorded');
// The last event is the terminator.
const recorded = readdirSync(folder).map((name) =>
  readFileSync(path.join(folder, name), 'utf8')
    .split('\n\n')
    .filter((event) => event.startsWith('data: {'))
    .map((event) => JSON.parse(event.slice('data: '.length)) as unknown),
);

const newTally = () =>
  createTally({
    most: { promptTokens: 1_000_000, completionTokens: 1_000_000 },
    promptBytes: 10,
    choices: 1,
    keepsText: true,
    echoedCharacters: () => 3,
    now: () => 0,
  });

// Reads as the pipeline does, and writes every route's form. Throws the caller's error.
const serve = (wire: Uint8Array): void => {
  const reader = createStreamReader();
  const chunks: UpstreamChunk[] = [];
  try {
    for (const chunk of reader.push(wire)) chunks.push(chunk);
    for (const chunk of reader.end()) chunks.push(chunk);
    const failure = reader.failure();
    if (failure) throw failure;
  } catch (error) {
    throw toUpstreamError(error);
  } finally {
    const tally = newTally();
    chunks.forEach(tally.take);
    JSON.stringify([tally.count(), tally.uncounted(), tally.finishReason(), tally.usage()]);
    const recording = createRecording();
    recording.take(chunks);
    for (const [, route] of routes)
      for (const answer of [chunks, recording.chunks() ?? []]) {
        JSON.parse(route.whole(answer));
        route.stream(answer);
      }
  }
};

// The answer must be served, or fail as an answer of a broken model does.
const expectServedOr503 = (wire: Uint8Array): void => {
  try {
    serve(wire);
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    expect(error).toMatchObject({ status: 503, code: 'upstream_error' });
  }
};

const ReturnedUsage = z.union([UsageInfo, MessageUsage, ResponseReply.shape.usage.unwrap()]);

const toWire = (events: readonly unknown[]): Buffer =>
  Buffer.from([...events.map(toJson), '[DONE]'].map((data) => `data: ${data}\n\n`).join(''));

describe('a malformed answer of a runtime', () => {
  test.each<[string, unknown]>([
    ['calls that are null', { choices: [{ index: 0, delta: { tool_calls: [null] } }] }],
    ['a call without a function', { choices: [{ index: 0, delta: { tool_calls: [{ function: 5 }] } }] }],
    ['a choice that is null', { choices: [null] }],
    ['choices that are no list', { choices: 5 }],
    ['more choices than a request can have', { choices: Array(129).fill({ delta: { content: 'x' } }) }],
    ['the index of a choice that no request can have', { choices: [{ index: 128, delta: { content: 'x' } }] }],
    ['a delta that is no object', { choices: [{ index: 0, delta: ['x'] }] }],
    ['a negative index', { choices: [{ index: -1, delta: { content: 'x' } }] }],
    ['a finish reason that is no text', { choices: [{ index: 0, delta: {}, finish_reason: { a: 1 } }] }],
    [
      'a stop reason that can’t be converted to text',
      { choices: [{ index: 0, delta: {}, finish_reason: 'stop', stop_reason: { toString: 1 } }] },
    ],
    [
      'log probabilities that are too deep to be written',
      { choices: [{ index: 0, delta: {}, logprobs: { content: [{ token: '@deep' }] } }] },
    ],
    ['usage that is no object', { choices: [], usage: 'many' }],
    ['details that are no object', { choices: [], usage: { prompt_tokens: 1, completion_tokens: 1, prompt_tokens_details: 5 } }],
    ['measurements that are no object', { choices: [], metrics: [1] }],
    ['token ids that are no list', { choices: [{ index: 0, delta: { content: 'x' }, token_ids: 7 }] }],
    ['more calls than can be read', { choices: [{ index: 0, delta: { tool_calls: Array(200_000).fill({}) } }] }],
  ])('%s', (_, event) => {
    expect(() => serve(toWire([event]))).toThrow(expect.objectContaining({ status: 503, code: 'upstream_error' }));
  });

  test('is a 503 and never our own error, with any value in any place', () => {
    fc.assert(
      fc.property(
        fc
          .constantFrom(...recorded)
          .chain((events) => fc.tuple(fc.constant(events), fc.nat(events.length - 1)))
          .chain(([events, at]) => malformed(events[at]).map((event) => events.with(at, event))),
        (events) => expectServedOr503(toWire(events)),
      ),
      { numRuns: RUNS },
    );
  });

  test('is a 503 and never our own error, with any byte in any place', () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...recorded),
        fc.array(fc.tuple(fc.nat(), fc.nat(255)), { minLength: 1, maxLength: 4 }),
        (events, bytes) => {
          const wire = toWire(events);
          for (const [place, byte] of bytes) wire.writeUInt8(byte, place % wire.length);
          expectServedOr503(wire);
        },
      ),
      { numRuns: RUNS / 3 },
    );
  });
});

describe('usage that a runtime could not have counted', () => {
  const Count = z.int().nonnegative();
  const anyCount = fc.oneof(anyValue, fc.constantFrom(undefined, 7, '7', 1.5, -7, 2 ** 53));
  const anyUsage = fc.record(
    {
      prompt_tokens: anyCount,
      completion_tokens: anyCount,
      prompt_tokens_details: fc.oneof(anyValue, fc.record({ cached_tokens: anyCount })),
      completion_tokens_details: fc.oneof(anyValue, fc.record({ reasoning_tokens: anyCount })),
    },
    { requiredKeys: [] },
  );

  test('is never charged, returned or compared', () => {
    const check = (usage: object): void => {
      const wire = toWire([{ choices: [{ index: 0, delta: { content: 'Hello' }, finish_reason: 'stop' }], usage }]);
      let chunks: UpstreamChunk[] = [];
      try {
        chunks = createStreamReader().push(wire);
      } catch {
        return;
      }
      const tally = newTally();
      const observer = observeAnswer();
      observer.take(chunks);
      chunks.forEach(tally.take);
      const { promptTokens, cachedTokens, completionTokens } = tally.count();
      z.tuple([Count.max(1_000_000), Count.max(promptTokens), Count.max(1_000_000)]).parse([promptTokens, cachedTokens, completionTokens]);
      const used = tally.usage() ?? { prompt_tokens: promptTokens, completion_tokens: completionTokens };
      for (const [, { whole }] of routes) ReturnedUsage.parse(JSON.parse(whole(chunks, used)).usage);
      const timed = { ...observer.answer(), firstTokenMs: 1, durationMs: 2 };
      z.record(z.string(), Count).parse(compareAnswers({}, timed, timed));
    };
    fc.assert(fc.property(anyUsage, check), { numRuns: RUNS });
  });
});
