import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import {
  type Container,
  chunksOf,
  complete,
  contentOf,
  control,
  type ErrorBody,
  eventsOf,
  invoke,
  model,
  question,
  readUntilEnd,
  startContainer,
  streamOf,
} from '../fixtures.ts';

const INITIAL = { token_delay_ms: 0, first_token_delay_ms: 0, batch: null, omit_usage: false, fault: null };
const STREAM = { messages: question, temperature: 0, stream: true, max_tokens: 20, stream_options: { include_usage: true } };

let container: Container;
beforeAll(async () => {
  container = await startContainer();
});
afterEach(() => fetch(`${container.url}/control`, { method: 'DELETE' }));
afterAll(() => container.close());

const settings = async (): Promise<unknown> => (await fetch(`${container.url}/control`)).json();

describe('/control', () => {
  test('changes only the given settings, returns all of them, and resets them', async () => {
    expect(await settings()).toEqual(INITIAL);
    await control(container, { token_delay_ms: 5 });
    const changed = await control(container, { fault: { kind: 'hang', after_tokens: 3 } });
    expect(await changed.json()).toEqual({ ...INITIAL, token_delay_ms: 5, fault: { kind: 'hang', after_tokens: 3 } });
    await control(container, { fault: null });
    expect(await settings()).toEqual({ ...INITIAL, token_delay_ms: 5 });
    await fetch(`${container.url}/control`, { method: 'DELETE' });
    expect(await settings()).toEqual(INITIAL);
  });

  test.each([{ delay: 1 }, { token_delay_ms: -1 }, { fault: { kind: 'explode' } }, { fault: { kind: 'die', after: 1 } }])(
    'rejects %j',
    async (body) => {
      expect((await control(container, body)).status).toBe(400);
      expect(await settings()).toEqual(INITIAL);
    },
  );

  test('delays the first token and each later one', async () => {
    await control(container, { first_token_delay_ms: 60, token_delay_ms: 10 });
    const start = performance.now();
    await complete(container, { max_tokens: 5 });
    // A timer can fire up to a millisecond early.
    expect(performance.now() - start).toBeGreaterThanOrEqual(60 + 4 * 10 - 5);
  });

  test('records requests as they arrive, from when it is told to until it is told to end', async () => {
    const requests = `${container.url}/control/requests`;
    const recorded = async () => (await fetch(requests)).json();
    const body = JSON.stringify({ messages: question, max_tokens: 1, model: null });
    const send = () =>
      fetch(`${container.url}/invocations`, { method: 'POST', body, headers: { 'x-amzn-sagemaker-adapter-identifier': 'a' } });
    await (await send()).arrayBuffer();
    expect(await recorded()).toEqual([]);
    await fetch(requests, { method: 'PUT' });
    await (await send()).arrayBuffer();
    const headers = expect.objectContaining({ 'x-amzn-sagemaker-adapter-identifier': 'a' });
    expect(await recorded()).toEqual([{ path: '/invocations', headers, body }]);
    await fetch(requests, { method: 'DELETE' });
    expect(await recorded()).toEqual([]);
  });

  test('omits usage', async () => {
    await control(container, { omit_usage: true });
    const chunks = chunksOf(await streamOf(container, STREAM));
    expect(chunks.every(({ usage }) => usage === undefined)).toBe(true);
    expect(chunks.at(-1)?.choices[0]?.finish_reason).toBe('length');
    expect((await complete(container, { max_tokens: 2 })).usage).toBeUndefined();
  });
});

describe('a fault', () => {
  test('`error` returns its status and body as many times as set', async () => {
    await control(container, { fault: { kind: 'error', status: 503, body: { error: 'busy' }, times: 2 } });
    for (const _ of [1, 2]) {
      const response = await invoke(container, STREAM);
      expect([response.status, await response.json()]).toEqual([503, { error: 'busy' }]);
    }
    expect((await invoke(container, STREAM)).status).toBe(200);
  });

  test('`error` is by default a 500 like that of vLLM for every request until the reset', async () => {
    await control(container, { fault: { kind: 'error' } });
    for (const _ of [1, 2, 3]) {
      const response = await invoke(container, {});
      expect(response.status).toBe(500);
      expect(((await response.json()) as ErrorBody).error).toMatchObject({ type: 'InternalServerError', code: 500 });
    }
  });

  test('`error` sends a string body as plain text', async () => {
    await control(container, { fault: { kind: 'error', status: 502, body: '<html>' } });
    expect(await (await invoke(container, STREAM)).text()).toBe('<html>');
  });

  test('`end_without_done` ends cleanly after its tokens, without finish reason, usage or [DONE]', async () => {
    const whole = chunksOf(await streamOf(container, STREAM));
    await control(container, { fault: { kind: 'end_without_done', after_tokens: 4 } });
    const events = await streamOf(container, STREAM);
    expect(events).not.toContain('[DONE]');
    expect(contentOf(chunksOf(events))).toBe(contentOf(whole.slice(0, 1 + 4)));
    expect(chunksOf(events)).toHaveLength(1 + 4);
  });

  test('removes the finish reason of an answer with fewer tokens than after_tokens', async () => {
    await control(container, { fault: { kind: 'end_without_done', after_tokens: 1_000 } });
    const chunks = chunksOf(await streamOf(container, STREAM));
    expect(chunks).toHaveLength(1 + 20);
    expect(chunks.every(({ choices }) => choices[0]?.finish_reason === null)).toBe(true);
  });

  test('`destroy` breaks the connection after its tokens', async () => {
    await control(container, { fault: { kind: 'destroy', after_tokens: 2, times: 1 } });
    const { text, broken } = await readUntilEnd(await invoke(container, STREAM));
    expect(broken).toBe(true);
    expect(chunksOf(eventsOf(text))).toHaveLength(1 + 2);
  });

  test('`error_event` is an event followed by [DONE] in a stream, and a 500 otherwise', async () => {
    await control(container, { fault: { kind: 'error_event', after_tokens: 2 } });
    const events = await streamOf(container, STREAM);
    expect(events).toHaveLength(1 + 2 + 1 + 1);
    expect(events.at(-1)).toBe('[DONE]');
    expect(chunksOf(events).at(-1)?.error).toMatchObject({ type: 'InternalServerError', code: 500 });
    expect((await invoke(container, { messages: question })).status).toBe(500);
  });

  test('`hang` sends its tokens and then nothing until the client disconnects', async () => {
    await control(container, { fault: { kind: 'hang', after_tokens: 3, times: 1 } });
    const abort = new AbortController();
    const response = await invoke(container, STREAM, abort.signal);
    let text = '';
    const reading = (async () => {
      for await (const bytes of response.body ?? []) {
        text += new TextDecoder().decode(bytes);
        if (eventsOf(text).length === 1 + 3) abort.abort();
      }
    })();
    await expect(reading).rejects.toThrow('abort');
    expect((await streamOf(container, STREAM)).at(-1)).toBe('[DONE]');
  });
});

test.each([true, false])('the container stops generating when the client disconnects (stream: %j)', async (stream) => {
  let generated = 0;
  const started = Promise.withResolvers<void>();
  const nextLogits: typeof model.nextLogits = (...context) => {
    generated += 1;
    started.resolve();
    return model.nextLogits(...context).fill(-50, model.endOfTurn);
  };
  const counting = await startContainer({ model: { ...model, nextLogits }, tokenDelayMs: 1 });
  const abort = new AbortController();
  const reply = invoke(counting, { messages: question, stream, max_tokens: 8_000 }, abort.signal).then((response) => response.text());
  await started.promise;
  abort.abort();
  await expect(reply).rejects.toThrow('abort');
  await complete(counting, { max_tokens: 1 });
  const before = generated;
  await complete(counting, { max_tokens: 30 });
  expect(generated - before).toBe(30);
  await counting.close();
});
