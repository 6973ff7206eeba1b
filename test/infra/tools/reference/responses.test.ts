import { describe, expect, test } from '@jest/globals';
import { createResponseStream } from '../../../../functions/inference/responses/reply-stream.ts';
import { knownFields, responsesRequest } from '../../../../functions/inference/responses/request.ts';
import { sealText } from '../../../../functions/inference/responses/tools/compaction.ts';
import { openApiDocument } from '../../../../infra/tools/reference/inference-document.ts';
import { validate } from '../../../../shared/http/validate.ts';
import { InputItemsQuery, listInputItems } from '../../../../shared/responses/input-items.ts';
import { UpstreamFailed } from '../../../../shared/upstream/errors.ts';
import { callDelta, chunkOf, ended, facts, newStorage, parseEvents, stream, whole } from '../../../support/clients/responses-replies.ts';
import { called, read, result, thought, user } from '../../../support/clients/responses-requests.ts';
import { type Json, schemasOf } from '../../../support/clients/schemas.ts';

const document = JSON.parse(JSON.stringify(openApiDocument('serverless'))) as Json;
const { schemas } = document.components as { schemas: Record<string, Json> };
const { faults } = schemasOf(document, { isClosed: true });
const refTo = (name: string): Json => ({ $ref: `#/components/schemas/${name}` });

describe('the request for a response', () => {
  const faultsOf = (body: Json): string[] => schemasOf(document).faults(refTo('ResponsesRequest'), { model: 'm', input: 'Hi', ...body });
  const isTaken = (body: Json): boolean => {
    try {
      return validate(responsesRequest, { model: 'm', input: 'Hi', ...body }) !== undefined;
    } catch {
      return false;
    }
  };
  const tool = { type: 'function', name: 'f', parameters: { type: 'object' } };
  const reference = { type: 'item_reference', id: 'msg_1_0' };

  test('documents every known field', () => {
    const { properties, required } = schemas.ResponsesRequest as { properties: Json; required: string[] };
    expect(Object.keys(properties).toSorted()).toEqual([...knownFields].toSorted());
    expect(required).toEqual(['model', 'input']);
  });

  test.each<[Json]>([
    [{}],
    [{ input: [user('Hi'), { type: 'message', ...user([{ type: 'input_text', text: 'Hi' }]) }] }],
    [{ input: [user('Hi'), thought('Hm.'), called('a'), result('a'), result('a', [{ type: 'input_text', text: 'x' }])] }],
    [{ input: [reference, user('Hi')], previous_response_id: 'resp_1' }],
    [{ instructions: 'Be brief.', max_output_tokens: 1, temperature: 0, top_p: 1, top_logprobs: 20 }],
    [{ instructions: null, tools: null, text: null, reasoning: null, store: null, include: null, background: null, prompt: null }],
    [{ tools: [{ type: 'namespace', name: 'n', tools: [tool] }, { type: 'custom', name: 'a b' }, { type: 'local_shell' }] }],
    [{ tools: [tool, { type: 'web_search', more: 1 }], tool_choice: { type: 'function', name: 'f' }, parallel_tool_calls: false }],
    [{ text: { format: { type: 'json_schema', name: 'a', schema: { type: 'object' } } } }],
    [{ text: { format: { type: 'json_object' }, verbosity: 'low' }, reasoning: { effort: 'minimal', summary: 'auto' } }],
    [{ metadata: { a: 'b' }, user: 'u', store: false, stream: true, truncation: 'auto', include: ['x'], prompt_cache_key: 'k' }],
    [{ background: false, conversation: null, my_property: 1 }],
  ])('accepts %j, like the route', (body) => {
    expect({ isTaken: isTaken(body), faults: faultsOf(body) }).toEqual({ isTaken: true, faults: [] });
  });

  test.each<[Json]>([
    [{ input: [] }],
    [{ input: 5 }],
    [{ input: [{ type: 'input_image' }] }],
    [{ input: [user([{ type: 'input_image', image_url: 'x' }])] }],
    [{ input: [{ type: 'item_reference' }] }],
    [{ max_output_tokens: 0 }],
    [{ temperature: 3 }],
    [{ tools: [{ ...tool, name: 'no spaces' }] }],
    [{ tools: [{ name: 'f' }] }],
    [{ tools: [{ type: 'custom' }] }],
    [{ tool_choice: 'always' }],
    [{ text: { format: { type: 'json_schema', schema: { type: 'object' } } } }],
    [{ reasoning: { effort: 'extreme' } }],
    [{ truncation: 'yes' }],
    [{ background: true }],
    [{ conversation: 'conv_1' }],
    [{ prompt: { id: 'pmpt_1' } }],
  ])('rejects %j, like the route', (body) => {
    expect({ isTaken: isTaken(body), isFaulty: faultsOf(body).length > 0 }).toEqual({ isTaken: false, isFaulty: true });
  });
});

describe('the documentation of a response', () => {
  const scored = { token: 'a', logprob: -0.5, bytes: [97] };
  const logprobs = { content: [{ ...scored, top_logprobs: [scored] }] };
  const call = [callDelta(0, { id: 'a', function: { name: 'f', arguments: '{' } }), callDelta(0, { function: { arguments: '}' } })];
  const tools = [{ type: 'function', name: 'f' }, { type: 'web_search' }];
  const settings = { metadata: { a: 1 }, tools, tool_choice: 'required', text: { format: { type: 'json_object' } }, user: 'u' };
  const clientTools = [
    { type: 'custom', name: 'patch', format: { type: 'grammar', syntax: 'lark', definition: 'start: "a"' } },
    { type: 'namespace', name: 'n', description: 'N', tools: [{ type: 'function', name: 'f' }, { type: 'web_search' }] },
    { type: 'tool_search', execution: 'client', parameters: { type: 'object' } },
    { type: 'local_shell' },
  ];
  const calls = ['patch', 'n__f', 'tool_search', 'local_shell'].map((name, index) =>
    callDelta(index, { id: `c${index}`, function: { name, arguments: '{"input":"x"}' } }),
  );
  const answers: [string, Parameters<typeof whole>][] = [
    ['a text with log probabilities', [[[chunkOf({ content: 'a' }, { logprobs })], [ended()]], { top_logprobs: 1 }]],
    ['reasoning as it is', [[[chunkOf({ reasoning: 'Hm.' }), chunkOf({ content: 'a' })], [ended()]]]],
    ['reasoning as a summary', [[[chunkOf({ reasoning: 'Hm.' })], [ended()]], { reasoning: { effort: 'low', summary: 'auto' } }]],
    ['a function call, with all settings', [[call, [ended('tool_calls')]], settings]],
    ['calls of every kind of tool', [[calls, [ended('tool_calls')]], { tools: clientTools }]],
    ['reasoning that is sealed', [[[chunkOf({ reasoning: 'Hm.' })], [ended()]], { include: ['reasoning.encrypted_content'] }]],
    ['a summary of the conversation', [[[chunkOf({ content: 'a' })], [ended()]], { input: [user('Hi'), { type: 'compaction_trigger' }] }]],
    ['an answer that reached its maximum length', [[[chunkOf({ content: 'a' })], [ended('length')]]]],
    ['an empty answer', [[[ended()]]]],
  ];

  const failing = (): ReturnType<typeof parseEvents> => {
    const reply = createResponseStream(read({ stream: true }), facts, newStorage().storage);
    return parseEvents(reply.take([chunkOf({ content: 'a' })]) + reply.fail(new UpstreamFailed('upstream_error', '')));
  };

  test.each(answers)('%s: has all required and no undocumented fields, without streaming and in every event', async (_, answer) => {
    expect(faults(refTo('Response'), await whole(...answer))).toEqual([]);
    for (const event of await stream(...answer))
      expect({ event, faults: faults(refTo('ResponseStreamEvent'), event) }).toEqual({ event, faults: [] });
  });

  test('includes the events of a failure', () => {
    for (const event of failing()) expect({ event, faults: faults(refTo('ResponseStreamEvent'), event) }).toEqual({ event, faults: [] });
  });

  test('has no event types that are never sent', async () => {
    const { oneOf } = schemas.ResponseStreamEvent as { oneOf: { properties: { type: { const: string } } }[] };
    const sent = await Promise.all(answers.map(([, answer]) => stream(...answer)));
    const types = new Set([...sent.flat(), ...failing()].map(({ type }) => type));
    expect(oneOf.map(({ properties }) => properties.type.const).toSorted()).toEqual([...types].toSorted());
  });

  test('does not allow events without a sequence number or with a part of the wrong type', async () => {
    const events = await stream([[chunkOf({ content: 'a' })], [ended()]]);
    for (const { sequence_number: _, ...event } of events) expect(faults(refTo('ResponseStreamEvent'), event)).not.toEqual([]);
    const added = events.find(({ type }) => type === 'response.content_part.added');
    expect(faults(refTo('ResponseStreamEvent'), { ...added, part: { type: 'summary_text', text: '' } })).not.toEqual([]);
  });
});

test.each(['asc', 'desc'])('a list with every kind of input item fits its schema (%s)', (order) => {
  const inParts = user([{ type: 'input_text', text: 'Hi' }]);
  const answered = { role: 'assistant', content: [{ type: 'refusal', refusal: 'No.' }] };
  const parts = [{ type: 'input_text', text: 'x' }];
  const ofTools = [
    { type: 'custom_tool_call', call_id: 'b', name: 'patch', input: 'x' },
    { type: 'custom_tool_call_output', call_id: 'b', output: parts },
    { type: 'tool_search_call', call_id: 'c', execution: 'client', arguments: {} },
    { type: 'tool_search_output', call_id: 'c', execution: 'client', status: 'completed', tools: [{ type: 'function', name: 'f' }] },
    { type: 'local_shell_call', call_id: 'd', action: { type: 'exec', command: ['ls'] } },
    { type: 'local_shell_call_output', id: 'd', output: 'x' },
    { type: 'additional_tools', role: 'developer', tools: [{ type: 'local_shell' }] },
    { type: 'agent_message', author: '/root', recipient: '/root/a', content: [{ type: 'input_text', text: 'x' }] },
    { type: 'compaction', encrypted_content: sealText('x') },
    { type: 'web_search_call', id: 'ws_1' },
    { type: 'compaction_trigger' },
  ];
  const { input } = validate(responsesRequest, {
    model: 'm',
    input: [
      user('Hi'),
      inParts,
      answered,
      { ...answered, content: 'a' },
      thought('Hm.'),
      called('a'),
      result('a'),
      result('a', parts),
      ...ofTools,
    ],
  }).body as { input: Parameters<typeof listInputItems>[0]['input'] };
  const stored = { response: { id: facts.id, output: [] }, input, before: [], depth: 1 };
  const list = listInputItems(stored, InputItemsQuery.parse({ order }));
  expect(list.data).toHaveLength(8 + ofTools.length);
  expect(faults(refTo('InputItemList'), list)).toEqual([]);
  expect(faults(refTo('InputItemList'), { ...list, data: [{ type: 'message' }] })).not.toEqual([]);
});
