import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { MessageReply } from '../../../../functions/inference/messages/reply-schema.ts';
import { UpstreamFailed } from '../../../../shared/upstream/errors.ts';
import type { Invoke } from '../../../../shared/upstream/invocation.ts';
import { answers, END, noTokenizer, read, silentAfter, text } from '../../../support/fixtures/pipeline.ts';
import { assemble, readEvents, type Whole } from './replies.ts';
import { type MessagesRoute, startMessagesRoute } from './route-fixtures.ts';

let route: MessagesRoute;
let logged: ReturnType<typeof jest.spyOn>;
beforeAll(async () => {
  route = await startMessagesRoute();
});
beforeEach(() => {
  logged = jest.spyOn(process.stdout, 'write').mockReturnValue(true);
});
afterEach(() => {
  jest.restoreAllMocks();
});
afterAll(() => route.close());

type Sent = Awaited<ReturnType<Awaited<ReturnType<MessagesRoute['setUp']>>['call']>>;
const wholeOf = ({ body }: Sent): Whole => JSON.parse(body as string) as Whole;
const eventsOf = async (reply: Sent) => readEvents(await read(reply));

// A prompt so long that the window limits the answer to 40 tokens.
const long = { model: 'counted', messages: [{ role: 'user', content: 'x '.repeat(2_000) }] };
const tokenizer = {
  ...noTokenizer,
  fit: async () => ({ prompt_tokens: 2_960, kept: null }),
  count: async () => ({ prompt_tokens: 2_960, text_tokens: [2] }),
};
const cut: Invoke = async function* () {
  yield text('Hello');
  yield [
    { choices: [{ index: 0, delta: {}, finish_reason: 'length' }] },
    { choices: [], usage: { prompt_tokens: 2_960, completion_tokens: 40 } },
  ];
};

describe('POST /v1/messages', () => {
  test('answers, and the tokens of the reply are those that are billed', async () => {
    const { call, events } = await route.setUp(answers);
    const reply = await call({});
    const message = wholeOf(reply);
    expect(MessageReply.parse(message)).toMatchObject({ content: [{ type: 'text', text: 'Hello' }], stop_reason: 'end_turn' });
    expect(message.usage).toMatchObject({ input_tokens: 7, output_tokens: 2 });
    expect(reply.headers['request-id']).toBe(reply.headers['x-request-id']);
    expect(await events()).toEqual([
      expect.objectContaining({ route: '/v1/messages', outcome: 'completed', prompt_tokens: 7, completion_tokens: 2, cost_nanos: 11n }),
    ]);
  });

  test('streams, with the estimated input at the start and the billed one at the end', async () => {
    const { call, events } = await route.setUp(answers);
    const sent = await eventsOf(await call({ stream: true }));
    expect(assemble(sent)).toEqual([{ type: 'text', text: 'Hello' }]);
    expect(sent[0]?.message?.usage.input_tokens).toBeGreaterThan(0);
    expect(sent.at(-2)).toMatchObject({ delta: { stop_reason: 'end_turn' }, usage: { input_tokens: 7, output_tokens: 2 } });
    expect(await events()).toHaveLength(1);
  });

  test('replays a stored message, and a stored stream as one message (bug 14)', async () => {
    const { call, events } = await route.setUp(answers);
    for (const stream of [false, true]) {
      const headers = { 'idempotency-key': `replay-${stream}` };
      const first = await call({ stream }, headers);
      const sent = typeof first.body === 'string' ? first.body : await read(first);
      const again = await call({ stream }, headers);
      expect(again.headers).toMatchObject({ 'idempotent-replayed': 'true', 'content-type': first.headers['content-type'] });
      expect(again.headers['request-id']).not.toBe(first.headers['request-id']);
      if (!stream) expect(again.body).toBe(sent);
      else {
        const replayed = readEvents(again.body as string);
        expect(replayed.filter(({ type }) => type === 'message_start')).toHaveLength(1);
        expect(replayed.slice(-2)).toEqual(readEvents(sent).slice(-2));
        expect(assemble(replayed)).toEqual(assemble(readEvents(sent)));
      }
    }
    expect(await events()).toHaveLength(2);
  });

  test('says that the context window is full if it ended the answer', async () => {
    const { call } = await route.setUp(cut, { tokenizer });
    expect(wholeOf(await call(long)).stop_reason).toBe('model_context_window_exceeded');
    expect((await eventsOf(await call({ ...long, stream: true }))).at(-2)).toMatchObject({
      delta: { stop_reason: 'model_context_window_exceeded' },
    });
    expect(wholeOf(await call({ ...long, max_tokens: 40 })).stop_reason).toBe('max_tokens');
  });

  test('ends an answer at the deadline as if it had reached max_tokens, and bills it', async () => {
    const { call, events } = await route.setUp(silentAfter(text('Hello')), { tokenizer });
    expect(wholeOf(await call(long, {}, 20_050))).toMatchObject({ stop_reason: 'max_tokens', content: [{ text: 'Hello' }] });
    const sent = await eventsOf(await call({ ...long, stream: true }, {}, 20_050));
    expect(sent.at(-2)).toMatchObject({ delta: { stop_reason: 'max_tokens' }, usage: { input_tokens: 2_960, output_tokens: 2 } });
    expect(await events()).toEqual(Array(2).fill(expect.objectContaining({ outcome: 'timed_out', completion_tokens: 2 })));
  });

  test('ends a stream that breaks off with an error event (bug 31)', async () => {
    const { call, events } = await route.setUp(async function* () {
      yield text('Hello');
      throw new UpstreamFailed('upstream_error', 'secret');
    });
    const sent = await eventsOf(await call({ stream: true }));
    expect(sent.at(-1)).toMatchObject({ type: 'error', error: { type: 'api_error', details: { error_code: 'upstream_error' } } });
    expect(sent.map(({ type }) => type)).not.toContain('message_stop');
    expect(await events()).toEqual([expect.objectContaining({ outcome: 'upstream_failed', error_code: 'upstream_error' })]);
  });

  test('rejects a request without money with a 402, which its log line has too', async () => {
    const { call } = await route.setUp(answers, {}, { day_budget_nanos: 1n });
    const reply = await call({});
    expect(reply).toMatchObject({ statusCode: 402, headers: { 'x-should-retry': 'false' } });
    expect(wholeOf(reply)).toMatchObject({
      type: 'error',
      error: { type: 'billing_error', details: { error_code: 'insufficient_quota' } },
    });
    expect(logged.mock.calls.join()).toMatch(/"status":402,"code":"insufficient_quota"/);
  });

  test('rejects other requests with Anthropic’s types', async () => {
    const { call } = await route.setUp(answers);
    const errorOf = async (...given: Parameters<typeof call>) => {
      const reply = await call(...given);
      return [reply.statusCode, (wholeOf(reply).error as { type: string }).type];
    };
    expect(await errorOf({}, { 'x-api-key': 'sk-ant-other' })).toEqual([401, 'authentication_error']);
    expect(await errorOf({ model: 'none' })).toEqual([404, 'not_found_error']);
    expect(await errorOf({ max_tokens: 0 })).toEqual([400, 'invalid_request_error']);
    await call({}, { 'idempotency-key': 'once' });
    expect(await errorOf({ max_tokens: 5 }, { 'idempotency-key': 'once' })).toEqual([400, 'invalid_request_error']);
  });

  test('sends nothing but whole events', async () => {
    const { call } = await route.setUp(async function* () {
      yield text('A');
      yield END;
    });
    expect(await read(await call({ stream: true }))).toMatch(/^(?:event: \w+\ndata: [^\n]+\n\n)+$/);
  });
});
