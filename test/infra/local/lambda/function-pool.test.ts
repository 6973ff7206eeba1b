import { existsSync } from 'node:fs';
import path from 'node:path';
import { afterAll, afterEach, describe, expect, test } from '@jest/globals';
import { collect } from '../../../../infra/local/http/collect.ts';
import { createFunctionPool, type FunctionPool, type FunctionPoolOptions } from '../../../../infra/local/lambda/function-pool.ts';
import { createFunctionTimeouts } from '../../../../infra/local/lambda/function-timeouts.ts';
import { writeRuntimeProgram } from '../../../../infra/local/lambda/runtime-program.ts';
import { createProcessList } from '../../../../infra/local/processes/process-list.ts';
import { temporaryFolder } from '../../../support/temporary-folder.ts';
import { eventually, fixtureFunction, processState } from '../fixtures.ts';

const processes = createProcessList();
const folder = temporaryFolder();
const program = writeRuntimeProgram(folder.path);
const MAX_BYTES = 100_000_000;
let pool: FunctionPool;
let pools = 0;

const start = (fn = fixtureFunction('streaming'), options: Partial<FunctionPoolOptions> = {}): void => {
  pools += 1;
  pool = createFunctionPool({
    fn: { ...fn, shortName: `${fn.shortName}${pools}` },
    variables: { PATH: '/usr/bin', ...fn.environment },
    program,
    socketFolder: folder.path,
    logFolder: folder.path,
    environments: undefined,
    clockOffsetMs: () => 0,
    timeoutsOf: createFunctionTimeouts().of,
    processes,
    onChange: () => undefined,
    log: () => undefined,
    ...options,
  });
};
const begin = (event: object, signal?: AbortSignal) => pool.start(Buffer.from(JSON.stringify(event)), signal);
const run = async (event: object): Promise<string> => (await collect((await begin(event)).body, MAX_BYTES)).toString();
const result = async (event: object): Promise<unknown> => JSON.parse(await run(event));

afterEach(() => pool.close());
afterAll(async () => {
  processes.close();
  await folder[Symbol.asyncDispose]();
});

describe('a streamed handler', () => {
  test('writes the prelude, eight NUL bytes and its body', async () => {
    start();
    const [prelude = '', body = ''] = (await run({ hello: 'é' })).split('\0'.repeat(8));
    expect(JSON.parse(prelude)).toEqual({ statusCode: 201, headers: { 'content-type': 'text/plain', 'x-fixture': 'yes' } });
    expect(JSON.parse(body)).toMatchObject({
      event: { hello: 'é' },
      name: 'test-streaming',
      requestId: expect.stringMatching(/^[0-9a-f-]{36}$/),
    });
    const { remainingMs } = JSON.parse(body);
    expect(remainingMs).toBeGreaterThan(60_000);
    expect(remainingMs).toBeLessThanOrEqual(120_000);
  });

  test('rejects the invocation with its error if it fails before its first byte', async () => {
    start();
    await expect(begin({ action: 'fail' })).rejects.toMatchObject({
      reason: 'function_error',
      message: expect.stringContaining('TypeError: it broke at once'),
    });
  });

  test('breaks its stream if it fails after its first byte, and serves further invocations', async () => {
    start();
    await expect(run({ action: 'fail_midway' })).rejects.toThrow('aborted');
    expect(await result({ action: 'state' })).toMatchObject({ invocations: 2 });
  });

  test('affects no other invocation if it closes its response without a byte', async () => {
    start();
    const held = await begin({ action: 'pressure' });
    await expect(begin({ action: 'destroy' })).rejects.toMatchObject({ reason: 'function_error' });
    expect((await collect(held.body, MAX_BYTES)).length).toBeGreaterThan(13_107_200);
    expect(await result({ action: 'state' })).toMatchObject({ invocations: 3 });
  });

  test('gets backpressure from a slow reader', async () => {
    start();
    const { body } = await begin({ action: 'pressure' });
    let chunks = 0;
    await eventually(async () => {
      const state = await result({ action: 'state' });
      chunks = Number(Reflect.get(Object(state), 'chunksBeforePressure'));
      return chunks > 0;
    }, 'a write returns false');
    expect(chunks).toBeLessThan(100);
    expect((await collect(body, MAX_BYTES)).length).toBeGreaterThan(13_107_200);
  });

  test('sees its stream close when the invocation is aborted', async () => {
    start();
    const abort = new AbortController();
    const { body } = await begin({ action: 'hold' }, abort.signal);
    body.on('error', () => undefined);
    abort.abort();
    await eventually(async () => Object(await result({ action: 'state' })).closedEarly === 1, 'the stream of the function has closed');
  });
});

describe('a buffered handler', () => {
  test('returns its result as JSON, or null without one', async () => {
    start(fixtureFunction('buffered'));
    expect(await result({ action: 'reply', n: 1 })).toMatchObject({ statusCode: 200 });
    expect(await result({ action: 'nothing' })).toBeNull();
  });

  test('fails if it throws, or if its result is over 6 MB', async () => {
    start(fixtureFunction('buffered'));
    await expect(begin({ action: 'fail' })).rejects.toThrow('RangeError: out of range');
    await expect(begin({ action: 'too_long' })).rejects.toThrow('exceeded maximum allowed payload size');
  });

  test("has the given environment variables only, none of the developer's", async () => {
    process.env.DEVELOPERS_SECRET = 'x';
    start(fixtureFunction('buffered'));
    const variables = await result({ action: 'environment' });
    expect(variables).toMatchObject({ GREETING: 'hello', PATH: '/usr/bin' });
    expect(variables).not.toHaveProperty('DEVELOPERS_SECRET');
  });
});

describe('a process', () => {
  test('loads nothing for TypeScript, which would take memory that a function on Lambda does not need', async () => {
    start(fixtureFunction('buffered'));
    const modules = (await result({ action: 'modules' })) as string[];
    expect(modules).toContain('NativeModule http');
    expect(modules.filter((module) => module.includes('amaro'))).toEqual([]);
  });

  test('serves concurrent invocations', async () => {
    start(fixtureFunction('buffered'));
    const pids = await Promise.all(Array.from({ length: 50 }, () => result({ action: 'overlap', ms: 20 })));
    expect(new Set(pids).size).toBe(1);
    expect(await result({ action: 'count' })).toBeGreaterThan(1);
  });

  test('fails its pending invocations when it crashes, and is restarted for later ones', async () => {
    start();
    await pool.ready;
    const [pid] = pool.pids();
    const held = await begin({ action: 'hold' });
    await expect(begin({ action: 'die' })).rejects.toMatchObject({ reason: 'died' });
    await expect(collect(held.body, MAX_BYTES)).rejects.toThrow('aborted');
    expect(await result({ action: 'state' })).toMatchObject({ invocations: 1 });
    expect(pool.pids()).toHaveLength(1);
    expect(pool.pids()[0]).not.toBe(pid);
  });

  test('breaks its stream when it crashes', async () => {
    start();
    await expect(run({ action: 'die_midway' })).rejects.toThrow('aborted');
  });

  test('is killed if an invocation takes longer than the timeout of the function', async () => {
    const timeouts = createFunctionTimeouts();
    start(fixtureFunction('streaming', { timeoutMs: 500 }), { timeoutsOf: timeouts.of });
    await pool.ready;
    const [pid = 0] = pool.pids();
    await expect(begin({ action: 'hang' })).rejects.toMatchObject({
      reason: 'timed_out',
      message: expect.stringContaining('timed out after 500 ms'),
    });
    await eventually(() => processState(pid) === undefined, 'the process has ended');
    // A busy machine may need longer for the first invocation of a process.
    timeouts.settings.set({ [`streaming${pools}`]: { timeout_ms: 60_000 } });
    expect(await result({ action: 'state' })).toMatchObject({ invocations: 1 });
  });

  test('starts with its first invocation if it starts late, and has only a log until then', async () => {
    start(fixtureFunction('buffered'), { startsLate: true });
    await pool.ready;
    expect(pool.pids()).toEqual([]);
    expect(existsSync(path.join(folder.path, `buffered${pools}.log`))).toBe(true);
    const pids = await Promise.all([result({ action: 'overlap', ms: 1 }), result({ action: 'overlap', ms: 1 })]);
    expect(pids).toEqual([...pool.pids(), ...pool.pids()]);
  });

  test('whose bundle cannot be loaded fails its invocations, and is restarted with a delay', async () => {
    let started = 0;
    start(fixtureFunction('broken'), {
      onChange: () => {
        started += 1;
      },
    });
    await expect(pool.ready).rejects.toThrow('before the bundle was loaded');
    await expect(begin({})).rejects.toMatchObject({ reason: 'died' });
    expect(started).toBeLessThan(10);
  });
});

describe('with environments', () => {
  // The processes that serve concurrent invocations. The first one can serve all of them while the others start.
  const pidsOfSeveral = async (): Promise<Set<unknown>> => {
    const pids = new Set<unknown>();
    await eventually(async () => {
      for (const pid of await Promise.all(Array.from({ length: 12 }, () => result({ action: 'overlap', ms: 30 })))) pids.add(pid);
      return pids.size > 1;
    }, 'a second process serves an invocation');
    return pids;
  };

  test('each process serves one invocation at a time, and the number of processes is limited', async () => {
    start(fixtureFunction('buffered'), { environments: 3 });
    expect((await pidsOfSeveral()).size).toBeLessThanOrEqual(3);
    expect(await result({ action: 'count' })).toBe(1);
  });

  test('a function has no more processes than it reserves', async () => {
    start({ ...fixtureFunction('buffered'), reservedConcurrency: 2 }, { environments: 12 });
    expect((await pidsOfSeveral()).size).toBe(2);
  });

  test('a process is frozen between invocations: work that is not awaited stops until the next one', async () => {
    start(fixtureFunction('streaming'), { environments: 1 });
    await pool.ready;
    const [pid = 0] = pool.pids();
    await eventually(() => processState(pid) === 'T', 'the process is frozen after it has loaded its bundle');
    expect(await run({ action: 'leave_work' })).toContain('done');
    await eventually(() => processState(pid) === 'T', 'the process is frozen after the invocation');
    await eventually(async () => Object(await result({ action: 'state' })).leftWorkDone === true, 'the work goes on in later invocations');
    await eventually(() => processState(pid) === 'T', 'the process is frozen again');
  });

  test('a frozen process is killed when the pool closes', async () => {
    start(fixtureFunction('streaming'), { environments: 1 });
    await pool.ready;
    const [pid = 0] = pool.pids();
    await eventually(() => processState(pid) === 'T', 'the process is frozen');
    await pool.close();
    expect(processState(pid)).toBeUndefined();
  });

  test('an invocation waits for a process that starts slowly, but is throttled while all are busy', async () => {
    start(fixtureFunction('buffered'), { environments: 1, startsLate: true, maxWaitMs: 1 });
    expect(await result({ action: 'pid' })).toEqual(expect.any(Number));
    // Until the pool closes.
    const held = result({ action: 'overlap', ms: 60_000 }).catch(() => undefined);
    await expect(begin({ action: 'pid' })).rejects.toMatchObject({ reason: 'throttled' });
    await pool.close();
    await held;
  });

  test('a process that crashes is replaced', async () => {
    start(fixtureFunction('buffered'), { environments: 2 });
    await expect(begin({ action: 'die' })).rejects.toMatchObject({ reason: 'died' });
    expect(await result({ action: 'pid' })).toEqual(expect.any(Number));
  });
});

test('a function whose program is missing, as while npm ci runs, says so and is served again afterwards', async () => {
  const lines: string[] = [];
  const { execPath } = process;
  process.execPath = path.join(folder.path, 'missing');
  try {
    start(fixtureFunction('streaming'), { startsLate: true, log: (line) => lines.push(line) });
    await expect(begin({})).rejects.toThrow('ENOENT');
    await eventually(() => lines.length > 0, 'the failure is logged');
    expect(lines[0]).toMatch(/^function \S+ can't be started: .*missing is missing\. Is npm ci running\? restarting in \d+ ms$/);
  } finally {
    process.execPath = execPath;
  }
  expect(await result({ action: 'state' })).toMatchObject({ invocations: 1 });
});
