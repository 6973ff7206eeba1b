import { ReadableStream } from 'node:stream/web';
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { ResponseStream } from 'openai/lib/responses/ResponseStream';
import { createResponseStream } from '../../../../functions/inference/responses/reply-stream.ts';
import type { UpstreamChunk } from '../../../../shared/upstream/chunk.ts';
import { UpstreamFailed } from '../../../../shared/upstream/errors.ts';
import {
  callDelta,
  chunkOf,
  type Event,
  ended,
  facts,
  newStorage,
  parseEvents,
  stream,
  usage,
  whole,
} from '../../../support/clients/responses-replies.ts';
import { read } from '../../../support/clients/responses-requests.ts';
import { id, part, text } from './greeting.ts';

const thinking = [chunkOf({ reasoning: 'H' }), chunkOf({ reasoning_content: 'm' }), chunkOf({ content: 'Yes' }), ended()];
const twoCalls = [
  callDelta(0, { id: 'a', function: { name: 'f', arguments: '' } }),
  callDelta(0, { function: { arguments: '{"x":1}' } }),
  callDelta(1, { id: 'b', function: { name: 'g', arguments: '{}' } }),
  ended('tool_calls'),
];
const types = (events: Event[]): string[] => events.map(({ type }) => type.slice('response.'.length));

// Uses only the stream's own rules.
const assemble = (events: Event[]): unknown[] => {
  const items: Record<string, unknown>[] = [];
  const finished = new Set<unknown>();
  for (const event of events) {
    const at = event.output_index as number;
    const item = items[at] as { content: { text: string }[]; summary: { text: string }[]; arguments: string };
    if (event.type === 'response.output_item.added') items[at] = structuredClone(event.item) as Record<string, unknown>;
    else if (event.type === 'response.content_part.added') item.content.push(structuredClone(event.part) as { text: string });
    else if (event.type === 'response.reasoning_summary_part.added') item.summary.push(structuredClone(event.part) as { text: string });
    else if (/(output|reasoning)_text\.delta$/.test(event.type)) (item.content[0] as { text: string }).text += event.delta;
    else if (event.type === 'response.reasoning_summary_text.delta') (item.summary[0] as { text: string }).text += event.delta;
    else if (event.type === 'response.function_call_arguments.delta') item.arguments += event.delta;
    else if (event.type === 'response.output_item.done') {
      const { status, ...done } = event.item as Record<string, unknown>;
      expect(items[at]).toEqual({ ...done, status: 'in_progress' });
      items[at] = { ...done, status };
      finished.add(at);
    }
  }
  expect(finished.size).toBe(items.length);
  return items;
};

describe('a stream', () => {
  test('completes a call without arguments as {}, unless the answer was cut off', async () => {
    const call = callDelta(0, { id: 'a', function: { name: 'f' } });
    const argumentsOf = (items: unknown[]): unknown => (items[0] as { arguments: string }).arguments;
    expect(argumentsOf(assemble(await stream([[call, ended('tool_calls')]])))).toBe('{}');
    expect(argumentsOf((await whole([[call, ended('tool_calls')]])).output as unknown[])).toBe('{}');
    expect(argumentsOf(assemble(await stream([[call, ended('length')]])))).toBe('');
  });

  test('has every event of a text, numbered from 0', async () => {
    const events = await stream([text]);
    expect(types(events)).toEqual([
      'created',
      'in_progress',
      'output_item.added',
      'content_part.added',
      'output_text.delta',
      'output_text.delta',
      'output_text.done',
      'content_part.done',
      'output_item.done',
      'completed',
    ]);
    expect(events.map(({ sequence_number }) => sequence_number)).toEqual(events.map((_, index) => index));
    const at = { item_id: id('msg', 0), output_index: 0, content_index: 0 };
    expect(events[2]).toMatchObject({ item: { id: id('msg', 0), status: 'in_progress', content: [] } });
    expect(events[3]).toMatchObject({ ...at, part: part('') });
    expect(events[4]).toMatchObject({ ...at, delta: 'Hel', logprobs: [] });
    expect(events[6]).toMatchObject({ ...at, text: 'Hello\n"', logprobs: [] });
    expect(events[0]?.response).toMatchObject({ id: facts.id, status: 'in_progress', output: [], usage: null });
  });

  test('has two items for reasoning and text, one after the other', async () => {
    const events = await stream([thinking]);
    expect(types(events).slice(2, -1)).toEqual([
      'output_item.added',
      'content_part.added',
      'reasoning_text.delta',
      'reasoning_text.delta',
      'reasoning_text.done',
      'content_part.done',
      'output_item.done',
      'output_item.added',
      'content_part.added',
      'output_text.delta',
      'output_text.done',
      'content_part.done',
      'output_item.done',
    ]);
    expect(events.at(-1)?.response.output).toEqual([
      { id: id('rs', 0), type: 'reasoning', status: 'completed', summary: [], content: [{ type: 'reasoning_text', text: 'Hm' }] },
      { id: id('msg', 1), type: 'message', status: 'completed', role: 'assistant', content: [part('Yes')] },
    ]);
  });

  test('has the reasoning as a summary if the request asks for one', async () => {
    const events = await stream([thinking], { reasoning: { summary: 'auto' } });
    expect(types(events).slice(2, 9)).toEqual([
      'output_item.added',
      'reasoning_summary_part.added',
      'reasoning_summary_text.delta',
      'reasoning_summary_text.delta',
      'reasoning_summary_text.done',
      'reasoning_summary_part.done',
      'output_item.done',
    ]);
    expect(events.at(-1)?.response.output[0]).toEqual({
      id: id('rs', 0),
      type: 'reasoning',
      status: 'completed',
      summary: [{ type: 'summary_text', text: 'Hm' }],
    });
  });

  test('has an item for each of two calls, with all arguments in deltas', async () => {
    const events = await stream([twoCalls]);
    expect(events.find(({ type }) => type === 'response.function_call_arguments.done')).toMatchObject({ name: 'f', arguments: '{"x":1}' });
    expect(assemble(events)).toEqual([
      { id: id('fc', 0), type: 'function_call', status: 'completed', call_id: 'a', name: 'f', arguments: '{"x":1}' },
      { id: id('fc', 1), type: 'function_call', status: 'completed', call_id: 'b', name: 'g', arguments: '{}' },
    ]);
  });

  test('ends the text before the calls after it', async () => {
    const events = await stream([[chunkOf({ content: 'Let me see.' })], twoCalls]);
    expect(events.at(-1)?.response.output.map(({ type }) => type)).toEqual(['message', 'function_call', 'function_call']);
    const doneAt = types(events).indexOf('output_item.done');
    expect(types(events).slice(doneAt + 1)[0]).toBe('output_item.added');
  });

  test('is incomplete if it reaches max_output_tokens, and so is its last item, but no other', async () => {
    const events = await stream([[chunkOf({ reasoning: 'Hm' }), chunkOf({ content: 'Ye' }), ended('length')]]);
    expect(events.at(-1)).toMatchObject({
      type: 'response.incomplete',
      response: {
        status: 'incomplete',
        completed_at: null,
        incomplete_details: { reason: 'max_output_tokens' },
        output: [{ status: 'completed' }, { status: 'incomplete' }],
      },
    });
  });

  test('ends with response.failed if it fails, with the output so far and the error', async () => {
    const { stored, storage } = newStorage();
    const reply = createResponseStream(read({ stream: true }), facts, storage);
    const events = parseEvents(reply.take([chunkOf({ content: 'Hel' })]) + reply.fail(new UpstreamFailed('upstream_error', 'secret')));
    expect(events.at(-1)).toMatchObject({
      type: 'response.failed',
      sequence_number: 5,
      response: {
        id: facts.id,
        status: 'failed',
        store: false,
        error: { code: 'upstream_error', message: expect.stringContaining('failed to answer') },
        output: [{ status: 'incomplete', content: [part('Hel')] }],
      },
    });
    expect(JSON.stringify(events)).not.toContain('secret');
    expect(stored).toEqual([]);
  });

  test('has its first events even if it fails before its first chunk', () => {
    const reply = createResponseStream(read({ stream: true }), facts, newStorage().storage);
    expect(types(parseEvents(reply.fail(new UpstreamFailed('upstream_timeout', ''))))).toEqual(['created', 'in_progress', 'failed']);
  });

  test('has one empty message if there is no output', async () => {
    const events = await stream([[chunkOf({ role: 'assistant' }), ended()]]);
    expect(assemble(events)).toMatchObject([{ type: 'message', content: [part('')] }]);
  });

  test('has the log probabilities of its text', async () => {
    const entry = (token: string) => ({ token, logprob: -1, bytes: [1], top_logprobs: [] });
    const chunks = ['a', 'b'].map((content) => chunkOf({ content }, { logprobs: { content: [entry(content)] } }));
    const events = await stream([[...chunks, ended()]], { include: ['message.output_text.logprobs'] });
    expect(events.find(({ type }) => type === 'response.output_text.delta')).toMatchObject({ logprobs: [entry('a')] });
    expect(events.at(-1)?.response.output).toMatchObject([{ content: [{ logprobs: [entry('a'), entry('b')] }] }]);
  });

  describe('with tokens that have no text yet', () => {
    const scored = (...tokens: string[]) => ({ logprobs: { content: tokens.map((token) => ({ token, logprob: -1, top_logprobs: [] })) } });
    const token = (content: string, ...tokens: string[]) => chunkOf({ content }, scored(...tokens));
    const tokensOf = (logprobs: unknown) => (logprobs as { token: string }[]).map((entry) => entry.token);
    const body = { include: ['message.output_text.logprobs'] };
    const tokens = async (...chunks: UpstreamChunk[]) => {
      const events = await stream([chunks], body);
      const deltas = events.filter(({ type }) => type === 'response.output_text.delta').flatMap(({ logprobs }) => tokensOf(logprobs));
      const message = events.at(-1)?.response.output.find(({ type }) => type === 'message') as { content: { logprobs: unknown }[] };
      expect(await whole([chunks], body)).toEqual(events.at(-1)?.response);
      return { deltas, message: tokensOf(message.content[0]?.logprobs) };
    };
    const both = (...names: string[]) => ({ deltas: names, message: names });

    test('has their log probabilities if a character has several tokens', async () => {
      expect(await tokens(token('a', 'a'), token('', 'x1'), token('', 'x2'), token('😀', 'x3'), ended())).toEqual(
        both('a', 'x1', 'x2', 'x3'),
      );
      expect(await tokens(token('', 'x1'), token('😀', 'x2'), ended())).toEqual(both('x1', 'x2'));
    });

    // As vLLM 0.32 sends them.
    test('lacks that of the token between the reasoning and the text', async () => {
      const spelled = (...names: string[]) => ({
        logprobs: { content: names.map((name) => ({ token: name, bytes: [...Buffer.from(name)] })) },
      });
      const thought = chunkOf({ reasoning: 'Hm' }, spelled('<think>', 'Hm'));
      const answer = [
        chunkOf({}, spelled('</think>')),
        chunkOf({ content: '\n\nYes' }, spelled('\n\n', 'Yes')),
        chunkOf({ content: '.' }, spelled('.')),
      ];
      expect(await tokens(thought, ...answer, ended())).toEqual(both('\n\n', 'Yes', '.'));
      const together = chunkOf({ reasoning: 'Hm', content: '😀' }, spelled('Hm', '</think>', '\ufffd', '😀'));
      expect(await tokens(together, ended())).toEqual(both('\ufffd', '😀'));
      expect(await tokens(chunkOf({}, spelled('<think>', '</think>')), chunkOf({ content: 'No' }, spelled(' No')), ended())).toEqual(
        both(' No'),
      );
    });

    test('has those whose bytes are no numbers', async () => {
      const spelled = (token: string, byte: unknown) => ({ token, bytes: [byte] });
      const odd = chunkOf({ content: 'a' }, { logprobs: { content: [spelled('a', { toString: 1 }), spelled('b', '97')] } });
      expect(await tokens(odd, ended())).toEqual(both('a', 'b'));
    });

    test('lacks those of reasoning, calls, and the token that ends the answer', async () => {
      const thought = [
        chunkOf({ reasoning: 'Hm' }, scored('r')),
        chunkOf({ reasoning: '' }, scored('r1')),
        chunkOf({ reasoning: '😀' }, scored('r2')),
      ];
      const end = chunkOf({}, { ...scored('<end>'), finish_reason: 'stop' });
      expect(await tokens(...thought, token('', 'x1'), token('é', 'x2'), end)).toEqual(both('x1', 'x2'));
      expect(
        await tokens(token('', 'r1'), chunkOf({ reasoning: '😀' }, scored('r2')), token('a', 'a'), token('', 'x1'), ended('length')),
      ).toEqual(both('a'));
      const call = chunkOf({ tool_calls: [{ index: 0, id: 'a', function: { name: 'f', arguments: '{}' } }] }, scored('{'));
      expect(await tokens(token('a', 'a'), chunkOf({}, scored('<call>')), call, ended('tool_calls'))).toEqual(both('a'));
    });
  });
});

const asSse = async (batches: UpstreamChunk[][], body: object): Promise<ReadableStream> => {
  const lines = (await stream(batches, body)).map((event) => `${JSON.stringify(event)}\n`);
  return ReadableStream.from(lines.map((line) => new TextEncoder().encode(line)));
};

const delta = fc.oneof(
  fc.record({ content: fc.string({ unit: 'grapheme', minLength: 1 }) }),
  fc.record({ reasoning: fc.string({ minLength: 1 }) }),
  fc.record({ index: fc.integer({ min: 0, max: 2 }), text: fc.string() }).map(({ index, text: args }) => ({
    tool_calls: [{ index, id: `c${index}`, function: { name: `f${index}`, arguments: args } }],
  })),
);

describe('a response that is rebuilt from its stream', () => {
  test('is the same as without streaming, in OpenAI’s client too, however the answer is split', async () => {
    const finish = fc.constantFrom('stop', 'length', 'tool_calls', 'eos');
    await fc.assert(
      fc.asyncProperty(
        fc.array(delta, { maxLength: 20 }),
        finish,
        fc.integer({ min: 1, max: 5 }),
        fc.boolean(),
        async (deltas, reason, size, short) => {
          const chunks = [...deltas.map((one) => chunkOf(one)), ended(reason)];
          const batches = Array.from({ length: Math.ceil(chunks.length / size) }, (_, i) => chunks.slice(i * size, (i + 1) * size));
          const body = short ? { reasoning: { summary: 'auto' } } : {};
          const events = await stream(batches, body);
          const made = await whole([chunks], body);
          expect(events.at(-1)?.response).toEqual(made);
          expect(assemble(events)).toEqual(made.output);
          const client = ResponseStream.fromReadableStream((await asSse(batches, body)) as never);
          const { output } = await client.finalResponse();
          expect(output).toMatchObject(made.output);
        },
      ),
      { numRuns: 60 },
    );
  });
});

describe('the usage details of a runtime', () => {
  test('are passed on', async () => {
    const reply = createResponseStream(read({}), facts, newStorage().storage);
    const fullUsage = { ...usage, prompt_tokens_details: { cached_tokens: 3 }, completion_tokens_details: { reasoning_tokens: 1 } };
    const text = reply.take([ended()]) + reply.usage(fullUsage) + reply.end();
    expect(parseEvents(text).at(-1)?.response.usage).toMatchObject({
      input_tokens_details: { cached_tokens: 3 },
      output_tokens_details: { reasoning_tokens: 1 },
    });
  });
});
