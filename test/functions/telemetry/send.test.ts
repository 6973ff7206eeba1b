import { createHash, createHmac } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { SignatureV4 } from '@smithy/signature-v4';
import type { Destination } from '../../../functions/telemetry/destinations.ts';
import { exportBodies } from '../../../functions/telemetry/export-bodies.ts';
import { createHeaders } from '../../../functions/telemetry/headers.ts';
import { createSend } from '../../../functions/telemetry/send.ts';
import { decodeTraces } from '../../support/emulators/otlp-decoder.ts';
import { answering, startReceiver } from '../../support/emulators/otlp-receiver.ts';
import { ARRIVED_AT, chatEvent, installation, interval } from './fixtures.ts';

const SECRET = 'arn:aws:secretsmanager:eu-west-1:123456789012:secret:otlp-AbC123';
const credentials = { accessKeyId: 'AKIAEXAMPLE', secretAccessKey: 'wJalrXUtnFEMI', sessionToken: 'token' };
const [body] = exportBodies('traces', [chatEvent()], { installation, interval }) as [Buffer];

const lines: Record<string, unknown>[] = [];
beforeEach(() => {
  lines.length = 0;
  jest.spyOn(process.stdout, 'write').mockImplementation((line) => lines.push(JSON.parse(String(line))) > 0);
});
afterEach(() => {
  jest.restoreAllMocks();
});

const sender = ({ secret = '{}', totalMs }: { secret?: string; totalMs?: number } = {}) => {
  const headersOf = createHeaders({ readSecret: async () => secret, credentials: () => credentials, now: () => ARRIVED_AT });
  return createSend({ headersOf, ...(totalMs !== undefined && { totalMs }) });
};

const to = (url: string, more: Partial<Destination> = {}): Destination => ({ signal: 'traces', url: `${url}/v1/traces`, ...more });

// SHA-256 as AWS’s signer needs it; with a secret it is an HMAC.
class Sha256 {
  readonly #hash;
  constructor(secret?: string | ArrayBuffer | ArrayBufferView) {
    this.#hash = secret === undefined ? createHash('sha256') : createHmac('sha256', secret as Uint8Array);
  }
  update(data: string | ArrayBuffer | ArrayBufferView): void {
    this.#hash.update(data as Uint8Array);
  }
  async digest(): Promise<Uint8Array> {
    return this.#hash.digest();
  }
  reset(): void {}
}

describe('createSend', () => {
  test('posts the compressed JSON once', async () => {
    await using receiver = await startReceiver();
    await sender()(to(receiver.url), body);
    expect(receiver.received).toHaveLength(1);
    const [{ path, headers, body: sent }] = receiver.received as [(typeof receiver.received)[number]];
    expect(path).toBe('/v1/traces');
    expect(headers).toMatchObject({ 'content-type': 'application/json', 'content-encoding': 'gzip' });
    expect(decodeTraces(sent).resourceSpans[0]?.scopeSpans[0]?.spans).toHaveLength(2);
    expect(lines).toEqual([]);
  });

  test("signs a request to AWS as AWS's own signer does", async () => {
    await using receiver = await startReceiver();
    const aws = { service: 'xray', region: 'eu-west-1' };
    await sender()(to(receiver.url, { aws }), body);
    const headers = receiver.received[0]?.headers ?? {};
    const signer = new SignatureV4({ ...aws, credentials, sha256: Sha256, applyChecksum: false });
    const { hostname, host, port } = new URL(receiver.url);
    const signed = await signer.sign(
      {
        method: 'POST',
        protocol: 'http:',
        hostname,
        port: Number(port),
        path: '/v1/traces',
        headers: { host, 'content-type': 'application/json', 'content-encoding': 'gzip' },
        body: new Uint8Array(body),
      },
      { signingDate: new Date(ARRIVED_AT) },
    );
    expect(headers.authorization).toBe(signed.headers.authorization);
    expect(headers['x-amz-security-token']).toBe('token');
  });

  test("adds the secret's headers, and reads a replaced secret soon", async () => {
    await using receiver = await startReceiver();
    let nowMs = ARRIVED_AT;
    const secrets = ['{"authorization":"Bearer first"}', '{"authorization":"Bearer second"}'];
    const readSecret = async (arn: string) => (arn === SECRET ? (secrets.shift() as string) : '{}');
    const send = createSend({ headersOf: createHeaders({ readSecret, credentials: () => credentials, now: () => nowMs }) });
    const destination = to(receiver.url, { headersSecretArn: SECRET });
    await send(destination, body);
    await send(destination, body);
    nowMs += 5 * 60_000;
    await send(destination, body);
    expect(receiver.received.map(({ headers }) => headers.authorization)).toEqual(['Bearer first', 'Bearer first', 'Bearer second']);
  });

  test.each([['{"content-encoding":"br"}'], ['{"a b":"c"}'], ['{"key":"s3cret\\nx"}'], ['"s3cret"'], ['s3cret']])(
    'does not send with the secret %s, and does not quote it',
    async (secret) => {
      await using receiver = await startReceiver();
      const error = await sender({ secret })(to(receiver.url, { headersSecretArn: SECRET }), body).catch((thrown: unknown) => thrown);
      expect(error).toBeInstanceOf(Error);
      // A SyntaxError quotes the value, but the log leaves its message out.
      if (!(error instanceof SyntaxError)) expect(String(error)).not.toContain('s3cret');
      expect(receiver.received).toEqual([]);
    },
  );

  test.each([429, 500, 502, 503, 504, 401, 403, 404, 302])('fails on the status %d, so that it is repeated', async (status) => {
    await using receiver = await startReceiver(answering(status, '', { location: '/elsewhere' }));
    await expect(sender()(to(receiver.url), body)).rejects.toThrow(`The destination returned the status ${status}.`);
    expect(receiver.received).toHaveLength(1);
  });

  test.each([400, 413, 415, 422])('does not repeat what a destination rejects with %d, and logs it for an alarm', async (status) => {
    await using receiver = await startReceiver(answering(status, 'the whole body again'));
    await sender()(to(receiver.url), body);
    expect(lines).toEqual([expect.objectContaining({ level: 'ERROR', message: 'telemetry_rejected', signal: 'traces', status })]);
    expect(JSON.stringify(lines)).not.toContain('the whole body');
  });

  test('logs for an alarm how much of an export a destination rejected', async () => {
    await using receiver = await startReceiver(
      answering(200, JSON.stringify({ partialSuccess: { rejectedSpans: '1', errorMessage: 'too old'.padEnd(1_000, '!') } })),
    );
    await sender()(to(receiver.url), body);
    expect(lines).toEqual([
      expect.objectContaining({ message: 'telemetry_rejected', rejected: 1, reason: expect.stringMatching(/^too old!{193}$/) }),
    ]);
  });

  test.each(['', '{}', '{"partialSuccess":{}}', '{"partialSuccess":null}', '{"partialSuccess":{"errorMessage":"a hint"}}', 'thanks', '[]'])(
    'takes a success with the body %j as one',
    async (text) => {
      await using receiver = await startReceiver(answering(200, text));
      await sender()(to(receiver.url), body);
      expect(lines).toEqual([]);
    },
  );

  test('fails if a destination does not reply in time, or is down', async () => {
    await using silent = await startReceiver(() => undefined);
    await expect(sender({ totalMs: 200 })(to(silent.url), body)).rejects.toThrow();
    await expect(sender()(to('http://127.0.0.1:1'), body)).rejects.toThrow();
  });

  test('reads a bounded part of an endless response', async () => {
    await using receiver = await startReceiver((_, response) => {
      const write = (): void => {
        if (!response.destroyed) response.write('x'.repeat(16_384), () => setImmediate(write));
      };
      write();
    });
    await sender()(to(receiver.url), body);
    expect(lines).toEqual([]);
  });
});
