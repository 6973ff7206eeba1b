import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { connect } from 'node:net';
import { PassThrough } from 'node:stream';
import { afterEach, describe, expect, test } from '@jest/globals';
import type { RestApi, Route } from '../../../../infra/assembly/local-app.ts';
import type { StartFunction } from '../../../../infra/local/gateway/integrate.ts';
import { type Gateway, startGateway } from '../../../../infra/local/gateway/server.ts';
import { eventually } from '../fixtures.ts';

const NUL = Buffer.alloc(8);
const HEAD = JSON.stringify({
  statusCode: 201,
  headers: { 'Content-Type': 'text/plain', 'WWW-Authenticate': 'Bearer' },
  cookies: ['a=1', 'b=2'],
});
const template = (code: string) => ({
  statusCode: 503,
  parameters: {},
  templates: { 'application/json': `{"code":"${code}","id":"$context.requestId"}` },
});

const route = (resourcePath: string, transferMode: Route['transferMode'], timeoutMs = 20_000): Route => ({
  resourceId: resourcePath,
  resourcePath,
  method: 'ANY',
  functionArn: 'fn',
  transferMode,
  timeoutMs,
});

const api: RestApi = {
  id: 'api',
  stackName: 'test-serverless',
  stage: 'live',
  stageVariables: null,
  binaryMediaTypes: ['*/*'],
  routes: [route('/stream', 'STREAM'), route('/buffered', 'BUFFERED'), route('/slow', 'BUFFERED', 30), route('/slow-stream', 'STREAM', 30)],
  gatewayResponses: new Map([
    ['INTEGRATION_FAILURE', template('failed')],
    ['INTEGRATION_TIMEOUT', template('late')],
    ['REQUEST_TOO_LARGE', { ...template('large'), statusCode: 413 }],
  ]),
};

let gateway: Gateway;
const lines: string[] = [];
const start = async (startFunction: StartFunction, stopOnDisconnect = false): Promise<string> => {
  lines.length = 0;
  gateway = await startGateway({ api, port: 0, startFunction, stopOnDisconnect, log: (line) => lines.push(line) });
  return gateway.url;
};
const answering =
  (body: PassThrough): StartFunction =>
  async () => ({ requestId: 'r', body });
const buffered = (result: unknown): StartFunction => {
  const body = new PassThrough();
  body.end(JSON.stringify(result));
  return answering(body);
};
const open = async (url: string): Promise<{ reply: IncomingMessage; leave: () => void }> => {
  const call = request(url, { method: 'POST' });
  call.on('error', () => undefined);
  call.end('{}');
  const [reply] = await once(call, 'response');
  return { reply, leave: () => call.destroy() };
};

afterEach(() => gateway.close());

describe('a buffered response', () => {
  test("has the function's status, headers and bytes, and the gateway's ids", async () => {
    const url = await start(
      buffered({
        statusCode: 202,
        headers: { 'X-A': 'old' },
        multiValueHeaders: { 'x-a': ['1', '2'] },
        body: '/wA=',
        isBase64Encoded: true,
      }),
    );
    const reply = await fetch(`${url}/buffered`);
    expect(reply.status).toBe(202);
    expect(reply.headers.get('x-a')).toBe('1, 2');
    expect(reply.headers.get('content-type')).toBe('application/json');
    expect(reply.headers.get('x-amzn-requestid')).toMatch(/^[0-9a-f-]{36}$/);
    expect(reply.headers.get('x-amz-apigw-id')).toMatch(/=$/);
    expect(Buffer.from(await reply.arrayBuffer())).toEqual(Buffer.from([0xff, 0x00]));
    expect(lines[0]).toMatch(/^GET \/buffered 202 \d+ ms$/);
  });

  test('to HEAD has headers only', async () => {
    const url = await start(buffered({ statusCode: 200, body: 'words' }));
    const reply = await fetch(`${url}/buffered`, { method: 'HEAD' });
    expect(reply.headers.get('content-length')).toBe('5');
    expect(await reply.text()).toBe('');
  });

  test.each([[{ status: 200 }], [{ statusCode: 200, body: { a: 1 } }], ['text'], [null]])(
    'causes an integration failure if it is malformed: %j',
    async (result) => {
      const reply = await fetch(`${await start(buffered(result))}/buffered`);
      expect(reply.status).toBe(503);
      expect(await reply.json()).toEqual({ code: 'failed', id: reply.headers.get('x-amzn-requestid') });
    },
  );

  test('is read to its end after the integration timeout, and the caller gets a timeout', async () => {
    const body = new PassThrough();
    const reply = await fetch(`${await start(answering(body))}/slow`);
    expect(await reply.json()).toMatchObject({ code: 'late' });
    body.end('{"statusCode":200}');
    await once(body, 'end');
  });

  test('is an integration failure if the function fails', async () => {
    const url = await start(() => Promise.reject(new Error('it broke')));
    expect(await (await fetch(`${url}/buffered`)).json()).toMatchObject({ code: 'failed' });
    expect(lines.join('\n')).toContain('it broke');
  });
});

describe('a streamed response', () => {
  test('starts with the head from the prelude, however the prelude is split', async () => {
    const body = new PassThrough();
    const url = await start(answering(body));
    const pending = fetch(`${url}/stream`);
    for (const byte of Buffer.concat([Buffer.from(HEAD), NUL, Buffer.from('one')])) {
      body.write(Buffer.from([byte]));
      await new Promise(setImmediate);
    }
    const reply = await pending;
    body.end();
    expect(reply.status).toBe(201);
    expect(reply.headers.get('content-type')).toBe('text/plain');
    expect(reply.headers.get('x-amzn-remapped-www-authenticate')).toBe('Bearer');
    expect(reply.headers.getSetCookie()).toEqual(['a=1', 'b=2']);
    expect(await reply.text()).toBe('one');
  });

  test('is forwarded chunk by chunk, after its head', async () => {
    const body = new PassThrough();
    const url = await start(answering(body));
    body.write(Buffer.concat([Buffer.from(HEAD), NUL]));
    const { reply } = await open(`${url}/stream`);
    for (const word of ['one', 'two', 'three']) {
      body.write(word);
      const [chunk] = await once(reply, 'data');
      expect(String(chunk)).toBe(word);
    }
    body.end();
    await once(reply, 'end');
  });

  test.each([
    ['without a prelude', 'plain text'],
    ['whose prelude is not JSON', `nothing${NUL}text`],
    ['whose prelude has no status', `{}${NUL}text`],
    ['whose prelude is too long', 'x'.repeat(20_000)],
    ['that is empty', ''],
  ])('%s causes an integration failure', async (_name, bytes) => {
    const body = new PassThrough();
    body.end(bytes);
    const reply = await fetch(`${await start(answering(body))}/stream`);
    expect(reply.status).toBe(503);
    expect(await reply.json()).toMatchObject({ code: 'failed' });
  });

  test("closes the caller's connection if it fails after its prelude", async () => {
    const body = new PassThrough();
    const url = await start(answering(body));
    body.write(`${HEAD}${NUL}some`);
    const { reply } = await open(`${url}/stream`);
    expect(String((await once(reply, 'data'))[0])).toBe('some');
    body.destroy(new Error('died'));
    await expect(once(reply, 'end')).rejects.toThrow('aborted');
    expect(lines[0]).toMatch(/ 201 \d+ ms \(incomplete\)$/);
  });

  test('is a timeout if it does not start before the integration timeout', async () => {
    const reply = await fetch(`${await start(answering(new PassThrough()))}/slow-stream`);
    expect(await reply.json()).toMatchObject({ code: 'late' });
  });

  test('is no faster than the caller reads', async () => {
    const body = new PassThrough({ highWaterMark: 1 });
    const url = await start(answering(body));
    body.write(`${HEAD}${NUL}`);
    const { reply, leave } = await open(`${url}/stream`);
    const chunk = Buffer.alloc(1_048_576);
    let written = 0;
    const maxChunks = 64;
    while (written < maxChunks && (body.write(chunk) || (await drains(body)))) written += 1;
    expect(written).toBeLessThan(maxChunks);
    expect(reply.statusCode).toBe(201);
    leave();
  });

  test('is read to its end after the caller disconnects', async () => {
    const body = new PassThrough();
    let signal: AbortSignal | undefined;
    const url = await start(async (_arn, _payload, given) => {
      signal = given;
      return { requestId: 'r', body };
    });
    body.write(`${HEAD}${NUL}`);
    const { leave } = await open(`${url}/stream`);
    leave();
    await eventually(() => lines.length > 0, 'the gateway notices the disconnected caller');
    for (let sent = 0; sent < 100; sent += 1) if (!body.write(Buffer.alloc(65_536))) await once(body, 'drain');
    body.end();
    await once(body, 'end');
    expect(signal?.aborted ?? false).toBe(false);
  });

  test('is aborted when the caller disconnects, with stopOnDisconnect', async () => {
    const body = new PassThrough();
    let signal: AbortSignal | undefined;
    const url = await start(async (_arn, _payload, given) => {
      signal = given;
      return { requestId: 'r', body };
    }, true);
    body.write(`${HEAD}${NUL}`);
    const { leave } = await open(`${url}/stream`);
    leave();
    await eventually(() => signal?.aborted === true, 'the invocation is aborted');
  });
});

describe('a request', () => {
  test('without a route gets a gateway response', async () => {
    const reply = await fetch(`${await start(buffered({}))}/nowhere`);
    expect(reply.status).toBe(403);
    expect(reply.headers.get('x-amzn-errortype')).toBe('MISSING_AUTHENTICATION_TOKEN');
  });

  test('is too large if its event is, including the body as base64', async () => {
    const url = await start(buffered({ statusCode: 200 }));
    const post = async (bytes: number) => (await fetch(`${url}/buffered`, { method: 'POST', body: Buffer.alloc(bytes) })).status;
    expect(await post(4_700_000)).toBe(200);
    expect(await post(4_720_000)).toBe(413);
  });

  test('is rejected by its content length before its body is read', async () => {
    const url = new URL(await start(buffered({ statusCode: 200 })));
    const socket = connect(Number(url.port), url.hostname);
    socket.write('POST /buffered HTTP/1.1\r\nHost: x\r\nContent-Length: 20000000\r\n\r\n');
    expect(String((await once(socket, 'data'))[0])).toMatch(/^HTTP\/1.1 413 /);
    socket.destroy();
  });

  test('far over the limit still gets its response', async () => {
    const url = await start(buffered({ statusCode: 200 }));
    const reply = await fetch(`${url}/buffered`, { method: 'POST', body: Buffer.alloc(30_000_000) });
    expect(reply.status).toBe(413);
    expect(await reply.json()).toMatchObject({ code: 'large' });
  });

  test('without a content length is rejected as soon as it exceeds the limit', async () => {
    const url = await start(buffered({ statusCode: 200 }));
    const call = request(`${url}/buffered`, { method: 'POST' });
    call.on('error', () => undefined);
    for (let sent = 0; sent < 12; sent += 1) call.write(Buffer.alloc(1_048_576));
    const [reply] = await once(call, 'response');
    expect(reply.statusCode).toBe(413);
    call.destroy();
  });
});

test('a port in use causes an error with code EADDRINUSE', async () => {
  const url = new URL(await start(buffered({})));
  const again = startGateway({ api, port: Number(url.port), startFunction: buffered({}), stopOnDisconnect: false, log: () => undefined });
  await expect(again).rejects.toMatchObject({ code: 'EADDRINUSE' });
});

// Within a thousand turns of the event loop.
const drains = async (stream: PassThrough): Promise<boolean> => {
  let drained = false;
  stream.once('drain', () => {
    drained = true;
  });
  for (let turn = 0; turn < 1_000 && !drained; turn += 1) await new Promise(setImmediate);
  return drained;
};
