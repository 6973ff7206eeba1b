import { describe, expect, test } from '@jest/globals';
import type * as z from 'zod';
import { createCompletion, createCompletionStream } from '../../../../functions/inference/completions/reply.ts';
import { CompletionRequest, completionFields } from '../../../../functions/inference/completions/request.ts';
import { DetokenizeRequest, TokenizeRequest } from '../../../../functions/inference/tokenize/schema.ts';
import { openApiDocument } from '../../../../infra/tools/reference/inference-document.ts';
import { validate } from '../../../../shared/http/validate.ts';
import { type Json, schemasOf } from '../../../support/clients/schemas.ts';
import { readEvents } from '../../../support/clients/server-sent-events.ts';

const document = JSON.parse(JSON.stringify(openApiDocument('serverless'))) as Json;
const { schemas } = document.components as { schemas: Record<string, { properties: Record<string, Json>; required: string[] }> };
const { faults } = schemasOf(document);
const { faults: undocumented } = schemasOf(document, { isClosed: true });
const refTo = (name: string): Json => ({ $ref: `#/components/schemas/${name}` });

const routes = { CompletionRequest, TokenizeRequest, DetokenizeRequest };

const isTaken = (name: keyof typeof routes, body: Json): boolean => {
  try {
    return validate(routes[name] as z.ZodType, body) !== undefined;
  } catch {
    return false;
  }
};
const messages = [{ role: 'user', content: 'Hi' }];

test('a completion request documents every known field', () => {
  expect(Object.keys(schemas.CompletionRequest?.properties ?? {})).toEqual(expect.arrayContaining(completionFields));
  expect(schemas.CompletionRequest?.required).toEqual(['model', 'prompt']);
});

test('fields of a completion request that have no effect or are not supported say so', () => {
  const { best_of, suffix, max_tokens } = schemas.CompletionRequest?.properties ?? {};
  expect(best_of?.description).toContain('Has no effect');
  expect(suffix?.description).toContain('Not supported');
  expect(max_tokens?.default).toBe(16);
});

test.each<[keyof typeof routes, Json]>([
  ['CompletionRequest', { prompt: 'Once' }],
  ['CompletionRequest', { prompt: ['a', 'b'] }],
  ['CompletionRequest', { prompt: [0, 1] }],
  ['CompletionRequest', { prompt: [[1], [2, 3]] }],
  ['CompletionRequest', { prompt: 'a', suffix: '', best_of: 3, logprobs: 5, echo: true, max_tokens: 0, n: 16 }],
  ['CompletionRequest', { prompt: 'a', suffix: null, logprobs: null, max_tokens: null, stop: ['a'], logit_bias: { '1': 1 }, more: 1 }],
  ['CompletionRequest', { prompt: 'a', stream: true, stream_options: { include_usage: true }, return_token_ids: true }],
  ['TokenizeRequest', { prompt: '' }],
  ['TokenizeRequest', { prompt: null, messages, tools: null, add_generation_prompt: false, return_token_strs: true, more: 1 }],
  ['DetokenizeRequest', { tokens: [] }],
  ['DetokenizeRequest', { tokens: [0, 5], more: 1 }],
])('%s accepts %j, like the route', (name, body) => {
  const request = { model: 'm', ...body };
  expect({ isTaken: isTaken(name, request), faults: faults(refTo(name), request) }).toEqual({ isTaken: true, faults: [] });
});

test.each<[keyof typeof routes, Json]>([
  ['CompletionRequest', {}],
  ['CompletionRequest', { prompt: '' }],
  ['CompletionRequest', { prompt: [] }],
  ['CompletionRequest', { prompt: ['a', 1] }],
  ['CompletionRequest', { prompt: [[]] }],
  ['CompletionRequest', { prompt: Array(129).fill('a') }],
  ['CompletionRequest', { prompt: 'a', suffix: 'the end' }],
  ['CompletionRequest', { prompt: 'a', logprobs: 6 }],
  ['CompletionRequest', { prompt: 'a', logprobs: true }],
  ['CompletionRequest', { prompt: 'a', n: 17 }],
  ['CompletionRequest', { prompt: 'a', best_of: 0 }],
  ['CompletionRequest', { prompt: 'a', stop: ['a', 'b', 'c', 'd', 'e'] }],
  ['TokenizeRequest', { prompt: 1 }],
  ['TokenizeRequest', { messages: [] }],
  ['TokenizeRequest', { messages: [{ role: 'wizard', content: 'Hi' }] }],
  ['TokenizeRequest', { prompt: 'a', add_special_tokens: 1 }],
  ['DetokenizeRequest', {}],
  ['DetokenizeRequest', { tokens: [-1] }],
  ['DetokenizeRequest', { tokens: 'a' }],
])('%s rejects %j, like the route', (name, body) => {
  const request = { model: 'm', ...body };
  expect({ isTaken: isTaken(name, request), isFaulty: faults(refTo(name), request).length > 0 }).toEqual({
    isTaken: false,
    isFaulty: true,
  });
});

describe('every field of a completion is documented', () => {
  const facts = { id: 'cmpl-1', created: 1, model: 'm', requestId: 'req_1', organization: 'org_1', mayStore: true };
  const perf = () => ({ time_to_first_token_ms: 5, tokens_per_second: null, gateway_time_ms: 1, queue_time_ms: 1.5 });
  const logprobs: object = { tokens: ['a', 'b'], token_logprobs: [null, -1], top_logprobs: [null, { b: -1 }], text_offset: [0, 1] };
  const part = { delta: { content: 'ab' }, logprobs, token_ids: [1], prompt_token_ids: [7] };
  const chunks = [
    { choices: [{ index: 0, ...part }] },
    { choices: [{ index: 1, delta: { content: 'c' } }] },
    { choices: [{ index: 0, finish_reason: 'stop', stop_reason: 5 }] },
    { choices: [{ index: 1, finish_reason: 'abort' }] },
  ];
  const usage = { prompt_tokens: 2, completion_tokens: 3, prompt_tokens_details: { cached_tokens: 1 } };

  const repliesWith = (hasAll: boolean) => {
    const form = { includeUsage: hasAll, tokenIds: hasAll };
    const given = { ...facts, ...(hasAll && { perf }) };
    const reply = createCompletion(given, form);
    reply.take(chunks);
    const stream = createCompletionStream(given, form);
    const { events } = readEvents(stream.take(chunks) + stream.usage(usage) + stream.end());
    return { whole: reply.whole(usage) as Json, events: events.map(({ data }) => data as Json) };
  };

  test.each([true, false])('covers replies that have all optional fields: %s', (hasAll) => {
    const { whole, events } = repliesWith(hasAll);
    expect(undocumented(refTo('Completion'), whole)).toEqual([]);
    for (const event of events) expect({ event, faults: undocumented(refTo('CompletionChunk'), event) }).toEqual({ event, faults: [] });
  });

  test('every documented field is sent', () => {
    const { whole, events } = repliesWith(true);
    const namesOf = (values: Json[]): string[] => [...new Set(values.flatMap((value) => Object.keys(value)))].toSorted();
    const documentedFields = (name: string): [string[], string[]] => {
      const { properties } = schemas[name] as { properties: Record<string, Json> };
      const { items } = properties.choices as { items: { properties: Json } };
      return [Object.keys(properties).toSorted(), Object.keys(items.properties).toSorted()];
    };
    for (const [name, values] of [['Completion', [whole]] as const, ['CompletionChunk', events] as const])
      expect(documentedFields(name)).toEqual([namesOf([...values]), namesOf(values.flatMap(({ choices }) => choices as Json[]))]);
  });

  test('a completion without a required field does not fit the schema', () => {
    const { whole, events } = repliesWith(true);
    for (const name of Object.keys(whole)) {
      const { [name]: _, ...rest } = whole;
      expect({ name, isFaulty: faults(refTo('Completion'), rest).length > 0 }).toEqual({ name, isFaulty: true });
    }
    const { choices: _, ...rest } = events[0] as Json;
    expect(faults(refTo('CompletionChunk'), rest)).not.toEqual([]);
  });
});
