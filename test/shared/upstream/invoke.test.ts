import { crc32 } from 'node:zlib';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { exceptionFrame, payloadPart } from '../../../infra/local/sagemaker/frames.ts';
import type { UpstreamChunk } from '../../../shared/upstream/chunk.ts';
import { BrokenAtWork, UpstreamFailed } from '../../../shared/upstream/errors.ts';
import type { Invoke } from '../../../shared/upstream/invocation.ts';
import { createInvoke as createDirectInvoke } from '../../../shared/upstream/invoke.ts';
import { createSdkInvoke } from '../../../shared/upstream/sdk-invoke.ts';
import { type Answer, type FakeAws, startFakeAws } from '../../support/emulators/fake-aws.ts';

let sagemaker: FakeAws;
beforeAll(async () => {
  sagemaker = await startFakeAws();
  Object.assign(process.env, {
    AWS_ENDPOINT_URL_SAGEMAKER_RUNTIME: sagemaker.url,
    AWS_REGION: 'us-east-1',
    AWS_ACCESS_KEY_ID: 'AKID',
    AWS_SECRET_ACCESS_KEY: 'secret',
  });
});
afterAll(() => sagemaker.close());

const event = (text: string): Buffer => payloadPart(Buffer.from(`data: ${text}\n\n`));
const token = (content: string): Buffer => event(JSON.stringify({ choices: [{ index: 0, delta: { content } }] }));
const END = Buffer.concat([event('{"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}'), event('[DONE]')]);
const damagedAt = (place: number, frame: Buffer): Buffer => {
  const bytes = Buffer.from(frame);
  bytes.writeUInt8(bytes.readUInt8(place) ^ 1, place);
  return bytes;
};

// In one write, so that the end of the reply arrives with its parts.
const sends =
  (...parts: Buffer[]): Answer =>
  (response) =>
    response.end(Buffer.concat(parts));

const ask = async (invoke: Invoke, signal = new AbortController()): Promise<{ text: string; error?: unknown }> => {
  let text = '';
  const take = (chunk: UpstreamChunk): void => {
    for (const choice of chunk.choices ?? []) text += choice.delta?.content ?? '';
  };
  try {
    for await (const batch of invoke({ target: { endpoint: 'e', weight: 1 }, body: '{}', choices: 1, signal })) {
      batch.forEach(take);
      // More of the answer arrives while the caller takes what came before.
      await new Promise((resolve) => setImmediate(resolve));
    }
    return { text };
  } catch (error) {
    return { text, error };
  }
};

describe.each([
  ['direct', createDirectInvoke],
  ['sdk', createSdkInvoke],
] as const)('the %s client', (client, createInvoke) => {
  test('returns an answer once, and uses its connection again', async () => {
    const invoke = createInvoke();
    sagemaker.answers(sends(token('one '), token('two'), END));
    for (let i = 0; i < 3; i++) expect(await ask(invoke)).toEqual({ text: 'one two' });
    expect([sagemaker.received.length, sagemaker.sockets.size]).toEqual([3, 1]);
  });

  test('batches everything that arrives together, so that it leaves in one write', async () => {
    sagemaker.answers(sends(token('one '), token('two '), token('three'), END));
    const target = { endpoint: 'e', weight: 1 };
    const batches = await Array.fromAsync(createInvoke()({ target, body: '{}', choices: 1, signal: new AbortController() }));
    expect(batches).toHaveLength(1);
  });

  test.each([70_000, 300_000, 3_000_000])('reads an event of %d bytes, in one payload part or many, to its end', async (bytes) => {
    const text = 'x'.repeat(bytes);
    const whole = Buffer.from(`data: ${JSON.stringify({ choices: [{ index: 0, delta: { content: text } }] })}\n\n`);
    const parts = Array.from({ length: Math.ceil(whole.length / 60_000) }, (_, i) =>
      payloadPart(whole.subarray(i * 60_000, (i + 1) * 60_000)),
    );
    for (const frames of [[payloadPart(whole)], parts]) {
      sagemaker.answers(sends(token('one '), ...frames, END));
      expect(await ask(createInvoke())).toEqual({ text: `one ${text}` });
    }
  });

  describe('a damaged answer', () => {
    test.each([
      ['the length', 2],
      ['the length of the headers', 7],
      ["the prelude's checksum", 9],
      ['a header', 20],
      ['the payload', token('bad').length - 10],
      ['the checksum', token('bad').length - 1],
    ])('fails, returns nothing damaged or twice, and its connection is not used again: %s', async (_, place) => {
      const invoke = createInvoke();
      sagemaker.answers((response, attempt, request) => {
        const stream = attempt === 1 ? [token('one '), damagedAt(place, token('bad')), token('two'), END] : [token('well'), END];
        sends(...stream)(response, attempt, request);
      });
      const { text, error } = await ask(invoke);
      expect(text).toBe('one ');
      expect(error).toBeInstanceOf(UpstreamFailed);
      expect(error).toMatchObject({ status: 503, code: 'upstream_error' });
      expect(await ask(invoke)).toEqual({ text: 'well' });
      expect(sagemaker.received).toHaveLength(2);
      // The SDK keeps the connection if the reply has ended.
      if (client === 'direct') expect(sagemaker.sockets.size).toBe(2);
    });

    test('fails in the same way if more of it arrives later', async () => {
      sagemaker.answers(async (response) => {
        response.writeHead(200);
        for (const part of [Buffer.concat([token('one '), damagedAt(30, token('bad'))]), token('two'), END]) {
          response.write(part);
          await new Promise((resolve) => setImmediate(resolve));
        }
        response.end();
      });
      const { text, error } = await ask(createInvoke());
      expect([text, error instanceof UpstreamFailed]).toEqual(['one ', true]);
    });

    test('is complete if the damage is after its terminator', async () => {
      sagemaker.answers(sends(token('one'), END, damagedAt(0, token('bad'))));
      expect(await ask(createInvoke())).toEqual({ text: 'one' });
    });

    test('may have been processed, so no other target is tried', async () => {
      for (const answer of [
        sends(damagedAt(2, token('bad'))),
        sends(token('one').subarray(0, 9)),
        // The SDK does not check it.
        ...(client === 'direct' ? [((response) => response.writeHead(500, { 'x-amz-crc32': crc32('{') }).end('{}')) as Answer] : []),
      ]) {
        sagemaker.answers(answer);
        expect((await ask(createInvoke())).error).toBeInstanceOf(BrokenAtWork);
        expect(sagemaker.received).toHaveLength(1);
      }
    });
  });

  test('throws a 400 with the runtime’s words for a rejection before the first word', async () => {
    sagemaker.answers(
      sends(event('{"error":{"message":"temperature is wrong at 10.0.0.1:80","type":"BadRequestError","code":400}}'), event('[DONE]')),
    );
    expect((await ask(createInvoke())).error).toMatchObject({ status: 400, param: 'temperature', message: 'temperature is wrong at […]' });
  });

  describe('an invocation is sent once more only if its connection broke before the reply:', () => {
    const twice: [string, number, Answer][] = [
      ['at once', 2, (response) => response.destroy()],
      // The SDK does not show how much of a reply has arrived.
      ['within the status line', client === 'direct' ? 1 : 2, (response) => response.socket?.end('HTTP/1.1 2')],
      ['after the head', 1, (response) => response.writeHead(200).write('', () => response.destroy())],
      ['within the body', 1, (response) => response.writeHead(200).write(token('one'), () => response.destroy())],
      ['within the body of an error', 1, (response) => response.socket?.end('HTTP/1.1 500 No\r\ncontent-length: 9\r\n\r\n{')],
      ['never, but the model failed', 1, (response) => response.writeHead(424, { 'x-amzn-errortype': 'ModelError' }).end('{}')],
      ['never, but SageMaker throttles', 1, (response) => response.writeHead(429, { 'x-amzn-errortype': 'ThrottlingException' }).end('{}')],
      ['never, but the reply is not HTTP', 1, (response) => response.socket?.end('SSH-2.0\r\n\r\n')],
      ['never, but the stream has an exception', 1, sends(exceptionFrame('InternalStreamFailure', {}))],
    ];
    // A connection that was closed while it was idle breaks at once, however slow this machine is.
    let nowMs: () => number;
    beforeEach(() => {
      nowMs = () => 0;
      jest.spyOn(performance, 'now').mockImplementation(() => nowMs());
    });
    afterEach(() => {
      jest.restoreAllMocks();
    });

    test.each(twice)('%s: %d', async (_, sent, answer) => {
      sagemaker.answers(answer);
      expect((await ask(createInvoke())).error).toBeInstanceOf(UpstreamFailed);
      expect(sagemaker.received).toHaveLength(sent);
    });

    test('not if it breaks when the model can be at work', async () => {
      let readings = 0;
      nowMs = () => 300 * readings++;
      sagemaker.answers((response) => response.destroy());
      expect((await ask(createInvoke())).error).toBeInstanceOf(BrokenAtWork);
      expect(sagemaker.received).toHaveLength(1);
    });
  });

  test('stops the container when an answer is left, unless it is complete or was never requested', async () => {
    const target = { endpoint: 'e', weight: 1 };
    sagemaker.answers((response) => response.writeHead(200).write(token('one')));
    const left = new AbortController();
    const begun = createInvoke()({ target, body: '{}', choices: 1, signal: left });
    expect(await begun.next()).toMatchObject({ value: [{ choices: [{ delta: { content: 'one' } }] }] });
    expect(await begun.return()).toMatchObject({ done: true });
    expect(await begun.next()).toMatchObject({ done: true });
    expect(left.signal.aborted).toBe(true);

    sagemaker.answers(sends(token('one'), END));
    const complete = new AbortController();
    const whole = createInvoke()({ target, body: '{}', choices: 1, signal: complete });
    expect(await Array.fromAsync(whole)).toHaveLength(1);
    await whole.return();
    const unrequested = new AbortController();
    const never = createInvoke()({ target, body: '{}', choices: 1, signal: unrequested });
    await never.return();
    expect(await never.next()).toMatchObject({ done: true });
    expect([complete.signal.aborted, unrequested.signal.aborted, sagemaker.received.length]).toEqual([false, false, 1]);
  });

  test('ends an aborted invocation, and does not send it again', async () => {
    for (const answer of [() => undefined, (response) => response.writeHead(200).write(token('one'))] as Answer[]) {
      const signal = new AbortController();
      sagemaker.answers((response, attempt, request) => {
        answer(response, attempt, request);
        setImmediate(() => signal.abort());
      });
      expect((await ask(createInvoke(), signal)).error).toBeInstanceOf(UpstreamFailed);
      expect(sagemaker.received).toHaveLength(1);
    }
  });
});
