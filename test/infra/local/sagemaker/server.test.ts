import { once } from 'node:events';
import { Agent, createServer, type RequestListener, request, type Server } from 'node:http';
import type { Socket } from 'node:net';
import { InvokeEndpointCommand, InvokeEndpointWithResponseStreamCommand, SageMakerRuntimeClient } from '@aws-sdk/client-sagemaker-runtime';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { NodeHttpHandler } from '@smithy/node-http-handler';
import { closeServer, listen } from '../../../../infra/local/http/listen.ts';
import type { ContainerTarget } from '../../../../infra/local/sagemaker/container-request.ts';
import { type SageMakerEmulator, startSageMaker } from '../../../../infra/local/sagemaker/server.ts';
import { eventually } from '../fixtures.ts';

const EVENTS = ['data: {"t":"é"}\n\n', 'data: two\n\n', 'data: [DONE]\n\n'];
// For the client of a silent container. All others wait, because a busy machine can be silent as long.
const SOCKET_TIMEOUT_MS = 1_000;
let container: Server;
let emulator: SageMakerEmulator;
let client: SageMakerRuntimeClient;
let answer: RequestListener;
const endpoints = new Map<string, ContainerTarget>();

const stream: RequestListener = (_request, response) => {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  let next = 0;
  const writeNext = (): void => {
    const event = EVENTS[next];
    next += 1;
    if (event === undefined) response.end();
    else response.write(event, () => setImmediate(writeNext));
  };
  writeNext();
};

const openClient = (socketTimeout = 0): SageMakerRuntimeClient =>
  new SageMakerRuntimeClient({
    endpoint: emulator.url,
    region: 'us-east-1',
    credentials: { accessKeyId: 'a', secretAccessKey: 'b' },
    maxAttempts: 1,
    requestHandler: new NodeHttpHandler({ socketTimeout }),
  });

beforeEach(async () => {
  answer = stream;
  container = createServer((request, response) => answer(request, response));
  endpoints.set('tiny', { url: await listen(container, 0), path: '/invocations' });
  endpoints.set('composed', { url: endpoints.get('tiny')?.url ?? '', path: '/invocations', component: 'part-1' });
  endpoints.set('other', { url: endpoints.get('tiny')?.url ?? '', path: '/invocations' });
  endpoints.set('dead', { url: 'http://127.0.0.1:1', path: '/invocations' });
  emulator = await startSageMaker(endpoints);
  client = openClient();
});
afterEach(async () => {
  client.destroy();
  await emulator.close();
  await closeServer(container);
});

const control = async (settings: object): Promise<void> => {
  const reply = await fetch(`${emulator.url}/control`, { method: 'PUT', body: JSON.stringify(settings) });
  expect(reply.status).toBe(200);
};
const fault = (kind: string, more: object = {}) => control({ cuts: 'whole', fault: { kind, ...more } });
const invoke = (EndpointName = 'tiny', signal = new AbortController().signal) =>
  client.send(
    new InvokeEndpointWithResponseStreamCommand({ EndpointName, Body: Buffer.from('{"n":1}'), ContentType: 'application/json' }),
    { abortSignal: signal },
  );
const partsOf = async (EndpointName = 'tiny', received: string[] = []): Promise<string[]> => {
  for await (const event of (await invoke(EndpointName)).Body ?? [])
    received.push(Buffer.from(event.PayloadPart?.Bytes ?? []).toString('latin1'));
  return received;
};
const all = Buffer.from(EVENTS.join('')).toString('latin1');

test('accepts requests for a component only at endpoints with components, others only at other endpoints', async () => {
  const call = (EndpointName: string, InferenceComponentName?: string) =>
    client.send(new InvokeEndpointWithResponseStreamCommand({ EndpointName, InferenceComponentName, Body: Buffer.from('{}') }));
  expect((await call('composed', 'part-1')).$metadata.httpStatusCode).toBe(200);
  await expect(call('composed')).rejects.toMatchObject({ name: 'ValidationError' });
  await expect(call('composed', 'part-2')).rejects.toMatchObject({ name: 'ValidationError' });
  await expect(call('tiny', 'part-1')).rejects.toMatchObject({ name: 'ValidationError' });
});

describe('a server that is no SageMaker container', () => {
  const foreign = (url: string): ContainerTarget => ({ url, keepsConnections: false });

  test.each([
    ['{"messages":[]}', '/v1/chat/completions'],
    ['{"prompt":"x"}', '/v1/completions'],
    ['{"input":"x"}', '/v1/embeddings'],
    ['no JSON', '/v1/chat/completions'],
  ])('gets %s at %s', async (body, path) => {
    let received: string | undefined;
    answer = (request, response) => {
      received = request.url;
      stream(request, response);
    };
    endpoints.set('foreign', foreign(endpoints.get('tiny')?.url ?? ''));
    await client.send(new InvokeEndpointWithResponseStreamCommand({ EndpointName: 'foreign', Body: Buffer.from(body) }));
    expect(received).toBe(path);
  });

  test('answers every request even if it closes a connection when it is used again', async () => {
    const used = new WeakSet();
    answer = (request, response) => {
      if (used.has(request.socket)) return void request.socket.destroy();
      used.add(request.socket);
      stream(request, response);
    };
    endpoints.set('foreign', foreign(endpoints.get('tiny')?.url ?? ''));
    for (let i = 0; i < 5; i++) expect((await partsOf('foreign')).join('')).toBe(all);
  });
});

describe('a streamed invocation', () => {
  test('returns the bytes of the container as payload parts', async () => {
    await control({ cuts: 'whole' });
    const reply = await invoke();
    expect(reply).toMatchObject({ ContentType: 'text/event-stream', InvokedProductionVariant: 'AllTraffic' });
    expect(await partsOf()).toEqual(EVENTS.map((event) => Buffer.from(event).toString('latin1')));
  });

  test.each(['random', 'bytes'])('can have its parts split (%s), with the same bytes', async (cuts) => {
    await control({ cuts });
    const parts = await partsOf();
    expect(parts.join('')).toBe(all);
    if (cuts === 'bytes') expect(parts).toHaveLength(all.length);
  });

  test('sends the payload, its type and the custom attributes to the container', async () => {
    let received: object = {};
    answer = (request, response) => {
      received = {
        url: request.url,
        type: request.headers['content-type'],
        attributes: request.headers['x-amzn-sagemaker-custom-attributes'],
      };
      stream(request, response);
    };
    await client.send(
      new InvokeEndpointWithResponseStreamCommand({
        EndpointName: 'tiny',
        Body: Buffer.from('{}'),
        ContentType: 'application/json',
        CustomAttributes: 'id=1',
      }),
    );
    expect(received).toEqual({ url: '/invocations', type: 'application/json', attributes: 'id=1' });
  });

  test('closes the request to the container when its caller disconnects', async () => {
    let left = false;
    answer = (_request, response) => {
      response.writeHead(200).write('data: one\n\n');
      response.once('close', () => {
        left = true;
      });
    };
    const abort = new AbortController();
    const reply = await invoke('tiny', abort.signal);
    const reading = (async () => {
      for await (const _part of reply.Body ?? []) abort.abort();
    })();
    await expect(reading).rejects.toThrow();
    await eventually(() => left, 'the container sees the caller go');
  });
});

describe('a buffered invocation', () => {
  test('returns the whole body', async () => {
    const reply = await client.send(new InvokeEndpointCommand({ EndpointName: 'tiny', Body: Buffer.from('{}') }));
    expect(Buffer.from(reply.Body ?? []).toString()).toBe(EVENTS.join(''));
    expect(reply.ContentType).toBe('text/event-stream');
  });

  test('returns none of the headers of the container', async () => {
    answer = (_request, response) => response.setHeader('x-compute-tokens', '7').end('[]');
    const reply = await fetch(`${emulator.url}/endpoints/tiny/invocations`, { method: 'POST', body: '{}' });
    expect([await reply.text(), reply.headers.get('x-compute-tokens')]).toEqual(['[]', null]);
  });

  test('fails over 25 MB of response', async () => {
    answer = (_request, response) => response.end(Buffer.alloc(26_214_401));
    const reply = await fetch(`${emulator.url}/endpoints/tiny/invocations`, { method: 'POST', body: '{}' });
    expect(reply.headers.get('x-amzn-errortype')).toBe('ModelError');
    expect(await reply.json()).toMatchObject({ OriginalStatusCode: 500 });
  });

  test.each([
    ['answers nothing', false],
    ['does not end its answer', true],
  ])('has a time limit for a container that %s', async (_, startsAnswer) => {
    answer = (_request, response) => startsAnswer && response.write('[');
    await using slow = await startSageMaker(new Map([['tiny', endpoints.get('tiny') as ContainerTarget]]), {
      invocationTimeoutMs: 50,
    }).then(({ url, close }) => ({ url, [Symbol.asyncDispose]: close }));
    const reply = await fetch(`${slow.url}/endpoints/tiny/invocations`, { method: 'POST', body: '{}' });
    expect([reply.status, reply.headers.get('x-amzn-errortype')]).toEqual([424, 'ModelError']);
    expect(await reply.json()).toMatchObject({
      OriginalStatusCode: 0,
      OriginalMessage: expect.stringMatching(/^Your invocation timed out while waiting for a response from container primary/),
      Message: expect.stringMatching(/^Received server error \(0\) from primary/),
    });
  });

  test('is not affected by faults in the stream, and does not count them', async () => {
    await fault('silence', { times: 1 });
    await client.send(new InvokeEndpointCommand({ EndpointName: 'tiny', Body: Buffer.from('{}') }));
    expect(await (await fetch(`${emulator.url}/control`)).json()).toMatchObject({ fault: { kind: 'silence', times: 1 } });
  });
});

describe('an error of the container', () => {
  test.each([
    [400, 'client'],
    [500, 'server'],
  ])('%d becomes a ModelError with its body', async (status, side) => {
    answer = (_request, response) => response.writeHead(status).end('{"error":"no"}');
    await expect(invoke()).rejects.toMatchObject({
      name: 'ModelError',
      $metadata: { httpStatusCode: 424 },
      OriginalStatusCode: status,
      OriginalMessage: '{"error":"no"}',
      message: expect.stringMatching(
        new RegExp(
          `^Received ${side} error \\(${status}\\) from primary with message "\\{"error":"no"\\}"\\. See https://us-east-1\\.console.*000000000000`,
        ),
      ),
    });
  });

  test('an unreachable container is a ModelError 500', async () => {
    await expect(invoke('dead')).rejects.toMatchObject({ name: 'ModelError', OriginalStatusCode: 500 });
  });

  test('a container that closes its connection during a stream breaks the stream', async () => {
    answer = (_request, response) => {
      response.writeHead(200).write('data: one\n\n', () => response.destroy());
    };
    const received: string[] = [];
    await expect(partsOf('tiny', received)).rejects.toMatchObject({ name: 'ModelStreamError', ErrorCode: 'StreamBroken' });
    expect(received.join('')).toBe('data: one\n\n');
  });

  test('an unknown endpoint is a ValidationError', async () => {
    await expect(invoke('nowhere')).rejects.toMatchObject({
      name: 'ValidationError',
      message: 'Endpoint nowhere of account 000000000000 not found.',
      $metadata: { httpStatusCode: 400 },
    });
  });
});

describe('a fault before the response', () => {
  test.each([
    ['throttling', 'ThrottlingException', 429],
    ['service_unavailable', 'ServiceUnavailable', 503],
    ['internal_failure', 'InternalFailure', 500],
    ['internal_dependency', 'InternalDependencyException', 530],
    ['model_not_ready', 'ModelNotReadyException', 429],
    ['validation', 'ValidationError', 400],
    ['no_capacity', 'ValidationError', 400],
    ['model_error', 'ModelError', 424],
  ])('%s is %s %d', async (kind, name, httpStatusCode) => {
    await fault(kind);
    await expect(invoke()).rejects.toMatchObject({ name, $metadata: { httpStatusCode } });
  });

  test('can have another status and another body of the container', async () => {
    await fault('model_not_ready', { status: 530 });
    await expect(invoke()).rejects.toMatchObject({ name: 'ModelNotReadyException', $metadata: { httpStatusCode: 530 } });
    await fault('model_error', { original_status: 422, original_message: 'bad field' });
    await expect(invoke()).rejects.toMatchObject({ OriginalStatusCode: 422, OriginalMessage: 'bad field' });
    await fault('no_capacity');
    await expect(invoke()).rejects.toThrow('Inference Component has no capacity to process this request');
  });

  test('refuse closes the connection without a response', async () => {
    await fault('refuse');
    await expect(invoke()).rejects.toThrow('socket hang up');
  });
});

describe('a fault in the stream happens after its number of parts:', () => {
  test.each([
    ['model_stream_error', { name: 'ModelStreamError', ErrorCode: 'ModelInvocationTimeExceeded' }],
    ['internal_stream_failure', { name: 'InternalStreamFailure' }],
    ['error_frame', { name: 'InternalFailure' }],
    ['socket_destroyed', { message: expect.stringContaining('aborted') }],
    ['truncated_frame', { message: expect.stringContaining('Truncated event message received.') }],
    ['bad_checksum', { message: expect.stringContaining('checksum') }],
    ['silence', { name: 'TimeoutError' }],
  ])('%s', async (kind, error) => {
    if (kind === 'silence') {
      client.destroy();
      client = openClient(SOCKET_TIMEOUT_MS);
    }
    for (const after_parts of [0, 2]) {
      await fault(kind, { after_parts });
      const received: string[] = [];
      await expect(partsOf('tiny', received)).rejects.toMatchObject(error);
      expect(received).toHaveLength(after_parts);
    }
  });

  test('end_without_done ends the stream without an error', async () => {
    await fault('end_without_done', { after_parts: 2 });
    expect(await partsOf()).toHaveLength(2);
  });

  test('a shorter stream fails at its end', async () => {
    await fault('model_stream_error', { after_parts: 99, error_code: 'StreamBroken' });
    const received: string[] = [];
    await expect(partsOf('tiny', received)).rejects.toMatchObject({ ErrorCode: 'StreamBroken' });
    expect(received).toHaveLength(EVENTS.length);
  });
});

describe('the control route', () => {
  test('limits a fault to an exact number of requests, even if they are concurrent', async () => {
    await fault('throttling', { times: 3 });
    const outcomes = await Promise.allSettled(Array.from({ length: 10 }, () => partsOf()));
    expect(outcomes.filter(({ status }) => status === 'rejected')).toHaveLength(3);
    expect(await (await fetch(`${emulator.url}/control`)).json()).toMatchObject({ fault: null });
  });

  test('can limit a fault to one endpoint, and remove it', async () => {
    await fault('throttling', { endpoint: 'other' });
    expect((await partsOf('tiny')).join('')).toBe(all);
    await expect(invoke('other')).rejects.toMatchObject({ name: 'ThrottlingException' });
    await fetch(`${emulator.url}/control`, { method: 'DELETE' });
    expect((await partsOf('other')).join('')).toBe(all);
  });

  test.each(['{', '{"cuts":"sometimes"}', '{"fault":{"kind":"earthquake"}}', '{"unknown":1}'])('refuses %s', async (body) => {
    expect((await fetch(`${emulator.url}/control`, { method: 'PUT', body })).status).toBe(400);
  });
});

test('closes the connections that no call is using', async () => {
  const agent = new Agent({ keepAlive: true });
  const socket = await new Promise<Socket>((resolve) => {
    request(`${emulator.url}/control`, { agent }, (response) => {
      const { socket: used } = response;
      response.resume().once('end', () => resolve(used));
    }).end();
  });
  const isClosed = once(socket, 'close');
  expect((await fetch(`${emulator.url}/control/idle-connections`, { method: 'DELETE' })).status).toBe(204);
  await isClosed;
  agent.destroy();
});

test('a payload over 25 MB is rejected', async () => {
  const command = new InvokeEndpointCommand({ EndpointName: 'tiny', Body: Buffer.alloc(26_214_401) });
  await expect(client.send(command)).rejects.toMatchObject({ name: 'ValidationError', $metadata: { httpStatusCode: 413 } });
});
