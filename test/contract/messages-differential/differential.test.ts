import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import path from 'node:path';
import { json, text } from 'node:stream/consumers';
import { afterEach, describe, expect, test } from '@jest/globals';
import { closeServer, listen } from '../../../infra/local/http/listen.ts';
import { cases } from './cases.ts';
import { differencesOf, judge } from './compare.ts';
import { readStream, readWhole } from './reply.ts';

const usage = { input_tokens: 5, cache_read_input_tokens: 2, output_tokens: 4 };
const message = {
  id: 'msg_1',
  type: 'message',
  content: [
    { type: 'thinking', thinking: 'Hm.', signature: 's' },
    { type: 'text', text: 'Hello' },
    { type: 'tool_use', id: 'toolu_1', name: 'read', input: { a: 1 } },
  ],
  stop_reason: 'tool_use',
  stop_sequence: null,
  usage,
};
const delta = (index: number, fields: object): object => ({ type: 'content_block_delta', index, delta: fields });
const start = (index: number, content_block: object): object => ({ type: 'content_block_start', index, content_block });
const stop = (index: number): object => ({ type: 'content_block_stop', index });
const events: object[] = [
  { type: 'message_start', message: { ...message, content: [], stop_reason: null } },
  { type: 'ping' },
  start(0, { type: 'thinking', thinking: '', signature: '' }),
  delta(0, { type: 'thinking_delta', thinking: 'Hm.' }),
  delta(0, { type: 'signature_delta', signature: 's' }),
  stop(0),
  start(1, { type: 'text', text: '' }),
  delta(1, { type: 'text_delta', text: 'Hel' }),
  delta(1, { type: 'text_delta', text: 'lo' }),
  stop(1),
  start(2, { type: 'tool_use', id: 'toolu_1', name: 'read', input: {} }),
  delta(2, { type: 'input_json_delta', partial_json: '{"a"' }),
  delta(2, { type: 'input_json_delta', partial_json: ':1}' }),
  stop(2),
  { type: 'message_delta', delta: { stop_reason: 'tool_use', stop_sequence: null }, usage },
  { type: 'message_stop' },
];
const toStream = (sent: readonly object[]): string =>
  sent.map((data) => `event: ${(data as { type: string }).type}\ndata: ${JSON.stringify(data)}\n\n`).join('');
const faultsOf = (sent: readonly object[]): string[] => readStream(200, toStream(sent)).faults;
const without = (...positions: number[]): object[] => events.filter((_, position) => !positions.includes(position));
const whole = readWhole(200, JSON.stringify(message));

describe('a reply', () => {
  test('is the same whole and streamed, except for its events', () => {
    expect(readStream(200, toStream(events))).toEqual({ ...whole, events: expect.arrayContaining(['ping', 'message_stop']) });
    expect(whole).toMatchObject({
      'prompt tokens': 7,
      'output tokens': 4,
      text: 'Hello',
      thinking: 'Hm.',
      calls: [{ name: 'read', input: { a: 1 } }],
    });
  });

  test('is the same wherever its stream has pings', () => {
    const later = [...without(1).slice(0, 7), { type: 'ping' }, ...without(1).slice(7)];
    expect(readStream(200, toStream(later))).toEqual(readStream(200, toStream(events)));
  });

  test('keeps the arguments of a call that are no JSON', () => {
    expect(readStream(200, toStream(without(12))).calls).toEqual([{ name: 'read', input: { broken: '{"a"' } }]);
  });

  test('has the type of an error, before the stream and in it', () => {
    const error = { type: 'error', error: { type: 'overloaded_error', message: 'Busy.' } };
    expect(readWhole(503, JSON.stringify(error))).toMatchObject({ status: 503, error: 'overloaded_error' });
    expect(readStream(200, toStream([...events.slice(0, 8), error]))).toMatchObject({ error: 'overloaded_error', faults: [] });
  });
});

describe('streamFaults', () => {
  test.each([
    ['the first event is no message_start', without(0), 'message_start is not the first event, once'],
    ['there are two', [events[0], ...events], 'message_start is not the first event, once'],
    ['a block starts too early', without(5), 'a block starts before the last one has stopped'],
    ['a block is left out', without(6, 7, 8, 9), 'the numbers of the blocks have gaps'],
    [
      'a delta is of a stopped block',
      [...events.slice(0, 6), delta(0, { type: 'thinking_delta' }), ...events.slice(6)],
      'a delta is of no open block',
    ],
    ['a delta has the wrong type', events.with(3, delta(0, { type: 'text_delta' })), 'a text_delta is in a block of type thinking'],
    ['a block stops twice', [...events.slice(0, 6), ...events.slice(5)], 'a block stops that is not open'],
    ['a block never stops', without(13), 'a block never stops'],
    ['the end is missing', without(15), 'the stream does not end with message_delta and message_stop, or with an error'],
  ] as [string, object[], string][])('says it if %s', (_case, sent, fault) => {
    expect(faultsOf(sent)).toContain(fault);
  });

  test('says it if an event has another name than its data', () => {
    expect(readStream(200, toStream(events).replace('event: ping', 'event: pong')).faults).toEqual([
      'an event has another name than its data',
    ]);
  });
});

describe('judge', () => {
  test('finds nothing in equal replies', () => {
    expect(judge(whole, whole)).toEqual([]);
  });

  test('explains what vLLM always does differently (bug 22)', () => {
    const vllm = {
      ...whole,
      id: 'chatcmpl',
      error: 'BadRequestError',
      'usage keys': ['input_tokens'],
      events: ['message_start'],
      faults: ['any'],
    };
    const sluice = { ...whole, error: 'invalid_request_error', events: ['message_start', 'ping'] };
    expect(judge(vllm, sluice).map(({ part, reason }) => [part, typeof reason])).toEqual(
      ['error', 'id', 'usage keys', 'events', 'faults'].map((part) => [part, 'string']),
    );
  });

  test('explains other differences only by the reasons of their request', () => {
    const other = { ...whole, text: 'Bye', 'stop reason': 'end_turn' };
    expect(judge(other, whole, { text: 'Another prompt.' }).map(({ part, reason }) => [part, reason])).toEqual([
      ['stop reason', undefined],
      ['text', 'Another prompt.'],
    ]);
  });

  test('does not explain an error of one server alone', () => {
    expect(judge(whole, { ...whole, error: 'api_error' })).toMatchObject([{ part: 'error', reason: undefined }]);
  });

  test('never explains a fault of our own stream', () => {
    const broken = { ...whole, faults: ['any'] };
    expect(judge(whole, broken, { faults: 'Never.' })).toMatchObject([{ part: 'faults', reason: undefined }]);
  });
});

describe('cases', () => {
  test('have labels of their own, and reasons only for parts of a reply', () => {
    expect(new Set(cases.map(({ label }) => label)).size).toBe(cases.length);
    const parts = differencesOf({} as never, { ...whole, error: '' }).map(({ part }) => part);
    for (const { reasons = {} } of cases) expect(parts).toEqual(expect.arrayContaining(Object.keys(reasons)));
  });
});

describe('the program', () => {
  const servers: Server[] = [];
  afterEach(async () => {
    for (const server of servers.splice(0)) await closeServer(server);
  });

  const serve = async (answer: string): Promise<{ url: string; bodies: Record<string, unknown>[] }> => {
    const bodies: Record<string, unknown>[] = [];
    const reply = { ...message, content: [{ type: 'text', text: answer }] };
    const sent = events.map((event, position) => (position === 7 ? delta(1, { type: 'text_delta', text: answer }) : event));
    const server = createServer(async (request, response) => {
      if (request.method === 'GET') return response.end(JSON.stringify({ data: [{ id: 'served' }] }));
      const body = (await json(request)) as Record<string, unknown>;
      bodies.push(body);
      response.writeHead(200, { 'content-type': body.stream ? 'text/event-stream' : 'application/json' });
      return response.end(body.stream ? toStream(sent) : JSON.stringify(reply));
    });
    servers.push(server);
    return { url: await listen(server, 0), bodies };
  };

  const run = async (...parameters: string[]) => {
    const child = spawn(process.execPath, [path.join(import.meta.dirname, 'main.ts'), ...parameters], {
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const [output, errors, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')]);
    return { output, errors, code };
  };

  test('sends both servers each request whole and streamed, and ends with 0 if the replies are equal', async () => {
    const [vllm, sluice] = [await serve('Hello'), await serve('Hello')];
    const { output, code } = await run('--vllm', vllm.url, '--sluice', sluice.url, '--key', 'k');
    expect([code, output]).toEqual([
      0,
      `${2 * cases.length} requests: ${2 * cases.length} equal, 0 differences explained, 0 unexplained\n`,
    ]);
    expect(vllm.bodies.slice(0, 2)).toMatchObject([
      { model: 'served', stream: false },
      { model: 'served', stream: true },
    ]);
    expect(sluice.bodies[0]).toMatchObject({ model: 'sluice-tiny', temperature: 0, max_tokens: 64 });
    expect(sluice.bodies[0]).not.toHaveProperty('chat_template_kwargs');
  });

  test('ends with 2 and shows both sides if a difference has no reason', async () => {
    const { output, code } = await run('--vllm', (await serve('Hello')).url, '--sluice', (await serve('Bye')).url, '--key', 'k');
    expect(code).toBe(2);
    expect(output).toContain('a text, whole\n  UNEXPLAINED: text\n    vLLM   "Hello"\n    Sluice "Bye"\n');
    expect(output).toContain('explained: text: vLLM joins system blocks without a separator.');
  });

  test.each([
    ['there is no server', ['--vllm', 'http://127.0.0.1:1', '--sluice', 'http://127.0.0.1:1', '--key', 'k'], 'fetch failed'],
    ['a flag is missing', ['--vllm', 'http://127.0.0.1:1'], '--vllm URL --sluice URL --key K'],
  ])('ends with 1 if %s', async (_case, parameters, reason) => {
    expect(await run(...parameters)).toMatchObject({ code: 1, errors: expect.stringContaining(reason) });
  });
});
