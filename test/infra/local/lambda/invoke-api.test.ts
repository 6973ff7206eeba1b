import { Readable } from 'node:stream';
import { InvokeCommand, LambdaClient } from '@aws-sdk/client-lambda';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { createLocalClock } from '../../../../infra/local/clock/local-clock.ts';
import type { ManagedSettings } from '../../../../infra/local/http/serve-settings.ts';
import { type AsyncInvocations, createAsyncInvocations } from '../../../../infra/local/lambda/async-invocations.ts';
import { createFunctionClock } from '../../../../infra/local/lambda/function-clock.ts';
import { createFunctionSet, type FunctionSet } from '../../../../infra/local/lambda/function-set.ts';
import { createFunctionTimeouts } from '../../../../infra/local/lambda/function-timeouts.ts';
import { InvocationFailed } from '../../../../infra/local/lambda/invocation.ts';
import { type InvokeApi, startInvokeApi } from '../../../../infra/local/lambda/invoke-api.ts';
import { createProcessList } from '../../../../infra/local/processes/process-list.ts';
import { eventually } from '../../../support/eventually.ts';
import { temporaryFolder } from '../../../support/temporary-folder.ts';
import { fixtureFunction } from '../fixtures.ts';

const folder = temporaryFolder();
const processes = createProcessList();
const fn = fixtureFunction('buffered');
const clock = createFunctionClock(createLocalClock(Date.now));
const timeouts = createFunctionTimeouts();
const settings = new Map<string, ManagedSettings<object>>([
  ['/clock', clock.settings],
  ['/timeouts', timeouts.settings],
]);
let functions: FunctionSet;
let api: InvokeApi;
let later: AsyncInvocations;
const logged: string[] = [];
let client: LambdaClient;

beforeAll(async () => {
  functions = createFunctionSet({
    functions: [fn],
    endpoints: {
      dynamodbUrl: 'http://d',
      sagemakerUrl: 'http://s',
      s3Url: 'http://o',
      lambdaUrl: 'http://l',
      sqsUrl: 'http://q',
      sesUrl: 'http://m',
      cognitoUrl: null,
    },
    logFolder: folder.path,
    environments: 1,
    clockOffsetMs: clock.offsetMs,
    timeoutsOf: timeouts.of,
    processes,
    onChange: () => undefined,
    log: () => undefined,
  });
  await functions.ready;
  later = createAsyncInvocations(functions.start, (line) => logged.push(line));
  api = await startInvokeApi({ start: functions.start, exists: functions.exists, later: later.add }, settings);
  client = new LambdaClient({
    endpoint: api.url,
    region: 'us-east-1',
    credentials: { accessKeyId: 'a', secretAccessKey: 'b' },
    maxAttempts: 1,
  });
});
afterAll(async () => {
  client.destroy();
  later.close();
  await api.close();
  await functions.close();
  processes.close();
  await folder[Symbol.asyncDispose]();
});

const invoke = (event: object | string | undefined, FunctionName = fn.name) =>
  client.send(new InvokeCommand({ FunctionName, ...(event && { Payload: typeof event === 'string' ? event : JSON.stringify(event) }) }));
const result = async (...parameters: Parameters<typeof invoke>): Promise<unknown> =>
  JSON.parse((await invoke(...parameters)).Payload?.transformToString() ?? '');

describe('Invoke', () => {
  test.each([fn.name, fn.arn, fn.shortName])('runs the function %s and returns its result', async (name) => {
    expect(await result({ action: 'environment' }, name)).toMatchObject({
      GREETING: 'hello',
      AWS_ENDPOINT_URL_S3: 'http://o',
      AWS_ENDPOINT_URL_LAMBDA: 'http://l',
    });
    expect((await invoke({ action: 'pid' }, name)).StatusCode).toBe(200);
  });

  test('returns null for a function without a result, and passes an empty event without a payload', async () => {
    expect(await result({ action: 'nothing' })).toBeNull();
    expect(await result(undefined)).toMatchObject({ body: expect.stringContaining('"event":{}') });
  });

  test('returns the error of a function in a 200 response', async () => {
    const failed = await invoke({ action: 'fail' });
    expect([failed.StatusCode, failed.FunctionError]).toEqual([200, 'Unhandled']);
    expect(JSON.parse(failed.Payload?.transformToString() ?? '')).toEqual({ errorType: 'RangeError', errorMessage: 'out of range' });
  });

  // The others have the timeout of the template, because a busy machine is slow.
  test.each([
    ['a function that crashes', { action: 'die' }, {}, 'Runtime.ExitError'],
    ['a function that times out', { action: 'overlap', ms: 60_000 }, { timeout_ms: 500 }, 'Sandbox.Timedout'],
    ['a function whose result is too long', { action: 'too_long' }, {}, 'Error'],
  ])('returns the error of %s in a 200 response', async (_name, event, limits, errorType) => {
    timeouts.settings.set({ [fn.shortName]: limits });
    const failed = await invoke(event);
    timeouts.settings.reset();
    expect(failed.FunctionError).toBe('Unhandled');
    expect(JSON.parse(failed.Payload?.transformToString() ?? '')).toMatchObject({ errorType });
  });

  test('rejects invalid requests as Lambda does', async () => {
    await expect(invoke({}, 'nowhere')).rejects.toMatchObject({
      name: 'ResourceNotFoundException',
      message: 'Function not found: nowhere',
    });
    await expect(invoke('{')).rejects.toMatchObject({ name: 'InvalidRequestContentException' });
    await expect(invoke(`"${'x'.repeat(6_291_556)}"`)).rejects.toMatchObject({ name: 'RequestTooLargeException' });
    const dryRun = new InvokeCommand({ FunctionName: fn.name, InvocationType: 'DryRun' });
    await expect(client.send(dryRun)).rejects.toThrow('RequestResponse and Event only, not DryRun');
  });
});

describe('Invoke with the type Event', () => {
  const invokeLater = (event: object | string, FunctionName = fn.name) =>
    client.send(
      new InvokeCommand({ FunctionName, InvocationType: 'Event', Payload: typeof event === 'string' ? event : JSON.stringify(event) }),
    );
  const tries = async (id: string): Promise<unknown> => result({ action: 'tries', id });

  test('is accepted at once and runs the function', async () => {
    const accepted = await invokeLater({ action: 'try', id: 'well', fails: 0 });
    expect(accepted.StatusCode).toBe(202);
    await eventually(async () => (await tries('well')) === 1, 'the function has run');
    expect(logged).toEqual([]);
  });

  test('runs a function that fails twice more, and then gives the event up', async () => {
    await invokeLater({ action: 'try', id: 'late', fails: 2 });
    await eventually(async () => (await tries('late')) === 3, 'the third attempt has succeeded');
    expect(logged).toEqual([]);
    await invokeLater({ action: 'try', id: 'never', fails: 99 });
    await eventually(async () => logged.length > 0, 'the event is given up');
    expect(logged).toEqual([`an event for ${fn.name} is given up: Function buffered: Error: not yet`]);
    expect(await tries('never')).toBe(3);
  });

  test('rejects an unknown function and an event of more than 1 MB', async () => {
    await expect(invokeLater({}, 'nowhere')).rejects.toMatchObject({ name: 'ResourceNotFoundException' });
    await expect(invokeLater(`"${'x'.repeat(1_048_576)}"`)).rejects.toMatchObject({ name: 'RequestTooLargeException' });
  });
});

test('an event waits until a process of its function is free', async () => {
  const events: string[] = [];
  let attempts = 0;
  const busy = createAsyncInvocations(async (_name, event) => {
    attempts += 1;
    if (attempts < 5) throw new InvocationFailed('f', 'throttled', 'Rate Exceeded');
    events.push(String(event));
    return { requestId: '1', body: Readable.from(['null']) };
  }, logged.push);
  expect(busy.add('f', Buffer.from('{}'))).toBe(true);
  await eventually(async () => events.length === 1, 'the event is delivered');
  busy.close();
});

test('invocations without a free process are throttled', async () => {
  const full = {
    start: async () => {
      throw new InvocationFailed('f', 'throttled', 'Rate Exceeded');
    },
    exists: () => true,
    later: () => false,
  };
  const throttled = await startInvokeApi(full, settings);
  const other = new LambdaClient({
    endpoint: throttled.url,
    region: 'us-east-1',
    credentials: { accessKeyId: 'a', secretAccessKey: 'b' },
    maxAttempts: 1,
  });
  await expect(other.send(new InvokeCommand({ FunctionName: 'f' }))).rejects.toMatchObject({
    name: 'TooManyRequestsException',
    $metadata: { httpStatusCode: 429 },
  });
  const tooMany = new InvokeCommand({ FunctionName: 'f', InvocationType: 'Event' });
  await expect(other.send(tooMany)).rejects.toMatchObject({ name: 'TooManyRequestsException' });
  other.destroy();
  await throttled.close();
});

describe('the clock of the functions', () => {
  const YEAR_SECONDS = 365 * 86_400;
  const set = (body: unknown, method = 'PUT') =>
    fetch(`${api.url}/clock`, { method, ...(method === 'PUT' && { body: JSON.stringify(body) }) });
  const distanceMs = async (): Promise<number> => {
    const { now, date, text, isDate } = (await result({ action: 'clock' })) as { now: number; date: string; text: string; isDate: boolean };
    expect([text, isDate]).toEqual(['1970-01-01T00:00:00.000Z', true]);
    expect(Date.parse(date) - now).toBeLessThan(60_000);
    return now - Date.now();
  };

  test('can be set, for processes that run already too, and reset', async () => {
    for (const offset_seconds of [-YEAR_SECONDS, YEAR_SECONDS]) {
      expect(await (await set({ offset_seconds })).json()).toMatchObject({ offset_seconds });
      expect(Math.abs((await distanceMs()) - offset_seconds * 1_000)).toBeLessThan(60_000);
    }
    await set(undefined, 'DELETE');
    expect(Math.abs(await distanceMs())).toBeLessThan(60_000);
  });

  test.each([{ offset_seconds: 'x' }, { offset_seconds: 1e12 }, { offset: 1 }])('rejects %j', async (body) =>
    expect((await set(body)).status).toBe(400),
  );
});

describe('the timeouts of the functions', () => {
  const set = (body?: object) =>
    fetch(`${api.url}/timeouts`, { method: body ? 'PUT' : 'DELETE', ...(body && { body: JSON.stringify(body) }) });

  test('can be set for invocations that begin later, and reset', async () => {
    await set({ [fn.shortName]: { remaining_ms: 300_000 } });
    expect(await result({ action: 'remaining' })).toBeGreaterThan(200_000);
    await set({ [fn.shortName]: { timeout_ms: 100 } });
    const failed = await invoke({ action: 'overlap', ms: 60_000 });
    expect(JSON.parse(failed.Payload?.transformToString() ?? '')).toMatchObject({
      errorType: 'Sandbox.Timedout',
      errorMessage: expect.stringContaining('timed out after 100 ms'),
    });
    await set();
    expect(await result({ action: 'remaining' })).toBeLessThanOrEqual(fn.timeoutMs);
  });

  test.each([{ buffered: { timeout_ms: 0 } }, { buffered: { timeout: 1 } }, { buffered: 5 }])('rejects %j', async (body) =>
    expect((await set(body)).status).toBe(400),
  );
});
