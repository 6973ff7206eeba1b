import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, jest, test } from '@jest/globals';
import OpenAI from 'openai';
import { LEASE_MS } from '../../../../functions/inference/capacity/waiting-store.ts';
import type { ReplyBody } from '../../../../functions/inference/pipeline/reply-body.ts';
import { inState } from '../../../../shared/deployments/deployment.ts';
import { type ColdWorld, startColdDeployments } from '../../../support/cold-deployment.ts';
import { openReply } from '../../../support/open-reply.ts';
import { read } from '../../../support/pipeline.ts';

let cold: Awaited<ReturnType<typeof startColdDeployments>>;
beforeAll(async () => {
  cold = await startColdDeployments();
});
afterAll(() => cold.close());
beforeEach(() => {
  jest.spyOn(process.stdout, 'write').mockReturnValue(true);
});
afterEach(() => {
  jest.restoreAllMocks();
});

const errorOf = ({ body }: { body: unknown }) =>
  (JSON.parse(body as string) as { error: { code: string; param: string; message: string; wake?: object } }).error;
const answerOf = ({ body }: { body: unknown }) =>
  (JSON.parse(body as string) as { choices: [{ message: { content: string } }] }).choices[0].message.content;
const NOBODY = { held: 0, running: 0 };

/** Moves the clock until a reply is there. */
const settle = async <Reply>(world: ColdWorld, reply: Promise<Reply>): Promise<Reply> => {
  let isThere = false;
  const there = reply.finally(() => {
    isThere = true;
  });
  for (let step = 0; !isThere && step < 3_000; step++) await world.clock.advance(1_000, 1_000);
  return there;
};

describe('the header X-Wait-For-Capacity', () => {
  test.each(['-1', '1.5', 'soon', '', '1e2', '30, 60', '281', '99999'])('is rejected as %j, with its limits', async (header) => {
    const world = await cold.createWorld();
    const { ask, events } = await world.createEnvironment();
    const reply = await ask('Hi', header);
    expect(reply.statusCode).toBe(400);
    expect(errorOf(reply)).toMatchObject({
      param: 'X-Wait-For-Capacity',
      message: expect.stringMatching(/0 to 280.*560 with stream: true/),
    });
    expect([world.reconciled, await events()]).toEqual([[], []]);
  });

  test('is rejected on a stream from 561, and for a shared model that is made of a deployment', async () => {
    const [own, shared] = [await cold.createWorld(), await cold.createWorld({ scope: 'serverless' })];
    for (const world of [own, shared]) {
      const { ask } = await world.createEnvironment();
      expect((await ask('Hi', 561, { stream: true })).statusCode).toBe(400);
    }
  });

  test('of 0 does not wait', async () => {
    const world = await cold.createWorld();
    const { ask } = await world.createEnvironment();
    expect(errorOf(await ask('Hi', 0)).code).toBe('deployment_waking');
    expect(await world.waiting()).toEqual(NOBODY);
  });
});

describe('a request that waits', () => {
  test('wakes the deployment and gets its answer, with its reservation held meanwhile', async () => {
    const world = await cold.createWorld();
    const { ask, events, keyId } = await world.createEnvironment();
    const reply = ask('Hi', 280);
    await world.clock.advance(60_000, 1_000);
    expect([(await world.row()).state, await world.waiting()]).toEqual(['waking', { held: 1, running: 0 }]);
    expect(Object.keys((await cold.test.limiters.whole(keyId))?.fl ?? {})).toHaveLength(1);
    await world.bringUp();
    expect(answerOf(await settle(world, reply))).toBe('Answer to Hi');
    expect([world.reconciled, await world.waiting()]).toEqual([[world.deployment.id], NOBODY]);
    expect(await events()).toEqual([expect.objectContaining({ outcome: 'completed', completion_tokens: 2 })]);
    expect(world.clock.waiting()).toBe(0);
  });

  test('gets its answer when the inventory said that the deployment was ready', async () => {
    const world = await cold.createWorld({ isReady: true });
    world.container.copies = 0;
    const { ask } = await world.createEnvironment();
    const reply = ask('Hi', 280);
    await world.clock.advance(10_000, 1_000);
    await world.bringUp();
    expect(answerOf(await settle(world, reply))).toBe('Answer to Hi');
  });

  test('waits for a deployment that is being created', async () => {
    const world = await cold.createWorld({ fields: { state: 'creating' } });
    const { ask } = await world.createEnvironment();
    const reply = ask('Hi', 280);
    await world.clock.advance(10_000, 1_000);
    expect(world.reconciled).toEqual([]);
    await world.bringUp();
    expect(answerOf(await settle(world, reply))).toBe('Answer to Hi');
  });

  test('is invoked again if the copy is in service a moment before it is reachable', async () => {
    const world = await cold.createWorld();
    const { ask } = await world.createEnvironment();
    const reply = ask('Hi', 280);
    await world.clock.advance(5_000, 1_000);
    await world.bringUp();
    world.container.copies = 0;
    await world.clock.advance(4_000, 1_000);
    expect(world.container.invocations).toBeGreaterThan(0);
    world.container.copies = 1;
    expect(answerOf(await settle(world, reply))).toBe('Answer to Hi');
  });

  test('looks at the deployment about once a second and writes nothing but its place', async () => {
    const world = await cold.createWorld({ fields: { starts: [{ kind: 'wake', at: 0, seconds: 60 }] } });
    const { ask } = await world.createEnvironment();
    const reply = ask('Hi', 280);
    await world.clock.advance(2_000, 1_000);
    world.calls.length = 0;
    await world.clock.advance(60_000);
    const methods = world.calls.map(({ method }) => method);
    const reads = methods.filter((method) => method === 'get').length;
    expect(reads).toBeGreaterThanOrEqual(48);
    expect(reads).toBeLessThanOrEqual(80);
    expect(methods.filter((method) => method !== 'get')).toEqual(['update', 'update', 'update', 'update']);
    await world.bringUp();
    await settle(world, reply);
  });

  test('returns 503 with the wake and costs nothing if capacity does not come in time', async () => {
    const world = await cold.createWorld();
    const { ask, events } = await world.createEnvironment();
    const reply = await settle(world, ask('Hi', 30));
    expect([reply.statusCode, errorOf(reply)]).toMatchObject([
      503,
      { code: 'deployment_waking', message: expect.stringContaining('not ready in the time'), wake: { started_at: expect.any(Number) } },
    ]);
    expect(await events()).toEqual([expect.objectContaining({ error_code: 'deployment_waking', cost_nanos: 0n, prompt_tokens: 0 })]);
    expect(await world.waiting()).toEqual(NOBODY);
  });

  test('ends at once when the deployment fails, with the reason', async () => {
    const world = await cold.createWorld();
    const { ask } = await world.createEnvironment();
    const reply = ask('Hi', 280);
    await world.clock.advance(5_000, 1_000);
    const reason = { code: 'image', message: 'The image does not exist.', action: 'Choose another runtime.' };
    await world.write((row) => inState(row, 'failed', world.clock.now(), reason));
    expect(errorOf(await settle(world, reply))).toMatchObject({
      code: 'deployment_not_ready',
      message: "The deployment 'qwen3-8b' has failed: The image does not exist. Choose another runtime.",
    });
    expect(await world.waiting()).toEqual(NOBODY);
  });

  test('keeps its answer under its idempotency key, and a 503 frees the key', async () => {
    const world = await cold.createWorld();
    const { ask, events } = await world.createEnvironment();
    const headers = { 'idempotency-key': 'once', 'X-User-Id': '3f1c2f0e-0d0f-4a57-9a57-3f5a4f3c9b11' };
    expect(errorOf(await ask('Hi', undefined, {}, headers)).code).toBe('deployment_waking');
    const reply = ask('Hi', 280, {}, headers);
    await world.clock.advance(5_000, 1_000);
    await world.bringUp();
    expect(answerOf(await settle(world, reply))).toBe('Answer to Hi');
    expect((await ask('Hi', 280, {}, headers)).headers['idempotent-replayed']).toBe('true');
    expect([world.container.invocations, (await events()).length]).toEqual([1, 2]);
  });
});

describe('a stream that waits', () => {
  /** What a caller has read of a stream so far. */
  const follow = async (reply: Promise<{ statusCode: number; body: unknown }>) => {
    const { statusCode, body } = await reply;
    const { stream, done } = openReply(body as ReplyBody);
    let text = '';
    stream.setEncoding('utf8').on('data', (part: string) => {
      text += part;
    });
    return { statusCode, stream, done, text: () => text };
  };
  const progressOf = (text: string) =>
    text
      .split('\n\n')
      .filter((line) => line.startsWith(': {'))
      .map((line) => JSON.parse(line.slice(2)) as { state: string; progress: { loading: number }; wake: { expected_at: number } });

  test('has status 200 at once, comments when the progress changes and every 15 s, and then the answer', async () => {
    const world = await cold.createWorld();
    const { ask } = await world.createEnvironment();
    const { statusCode, text, done } = await follow(ask('Hi', 560, { stream: true }));
    expect(statusCode).toBe(200);
    await world.clock.rest();
    expect(progressOf(text())).toEqual([
      {
        deployment: 'qwen3-8b',
        state: 'waking',
        progress: world.deployment.progress,
        wake: expect.objectContaining({ expected_at: expect.any(Number) }),
      },
    ]);
    await world.clock.advance(14_000, 500);
    expect(progressOf(text())).toHaveLength(1);
    await world.clock.advance(3_000, 500);
    expect(progressOf(text())).toHaveLength(2);
    await world.write((row) => ({ ...row, progress: { ...row.progress, wanted: 1, loading: 1 } }));
    await world.clock.advance(2_000, 500);
    expect(progressOf(text()).at(-1)?.progress.loading).toBe(1);
    await world.bringUp();
    await world.clock.advance(2_000, 500);
    await done;
    expect(text()).toMatch(/^: \{.*\n\ndata: \{.*Answer to Hi.*\n\ndata: \[DONE\]\n\n$/s);
    expect(await world.waiting()).toEqual(NOBODY);
  });

  test('ends with an error event, without [DONE] and at no cost, if capacity never comes', async () => {
    const world = await cold.createWorld();
    const { ask, events } = await world.createEnvironment();
    const reply = await ask('Hi', 20, { stream: true });
    expect(reply.statusCode).toBe(200);
    const written = await settle(world, read(reply));
    expect(written).toMatch(/data: \{"error":\{.*"code":"deployment_waking","wake":\{"started_at".*\n\n$/);
    expect(written).not.toContain('[DONE]');
    expect(await events()).toEqual([expect.objectContaining({ error_code: 'deployment_waking', cost_nanos: 0n })]);
    expect(await world.waiting()).toEqual(NOBODY);
  });

  test('stops waiting when its caller leaves, and costs nothing', async () => {
    const world = await cold.createWorld();
    const { ask, events } = await world.createEnvironment();
    const { stream, done } = await follow(ask('Hi', 560, { stream: true }));
    await world.clock.advance(5_000, 1_000);
    expect(await world.waiting()).toEqual({ held: 1, running: 0 });
    stream.destroy();
    await done;
    expect(await world.waiting()).toEqual(NOBODY);
    expect(await events()).toEqual([expect.objectContaining({ outcome: 'client_closed', cost_nanos: 0n })]);
    await world.clock.rest();
    expect(world.clock.waiting()).toBe(0);
  });
});

describe('the official OpenAI client', () => {
  const clientOf = async (world: ColdWorld) => {
    const { transport } = await world.createEnvironment();
    return new OpenAI({
      apiKey: 'unused',
      baseURL: 'http://sluice.test/v1',
      maxRetries: 0,
      // The pipeline's own key is in the event already.
      fetch: async (url, init) => {
        const headers = new Headers(init?.headers);
        headers.delete('authorization');
        return transport(url, { ...init, headers } as RequestInit);
      },
    });
  };
  const messages = [{ role: 'user' as const, content: 'Hi' }];
  const headers = { 'X-Wait-For-Capacity': '270' };

  test('gets a whole answer with the header', async () => {
    const world = await cold.createWorld();
    const client = await clientOf(world);
    const reply = client.chat.completions.create({ model: world.name, messages }, { headers });
    await world.clock.advance(5_000, 1_000);
    await world.bringUp();
    expect((await settle(world, Promise.resolve(reply))).choices[0]?.message.content).toBe('Answer to Hi');
  });

  test('gets a streamed answer with the header; the comments don’t disturb it', async () => {
    const world = await cold.createWorld();
    const client = await clientOf(world);
    const stream = await client.chat.completions.create({ model: world.name, messages, stream: true }, { headers });
    const answer = Array.fromAsync(stream, (chunk) => chunk.choices[0]?.delta.content ?? '');
    await world.clock.advance(40_000, 1_000);
    await world.bringUp();
    expect((await settle(world, answer)).join('')).toBe('Answer to Hi');
  });

  test('throws deployment_waking with the wake in its error, without the header', async () => {
    const world = await cold.createWorld();
    const client = await clientOf(world);
    await expect(client.chat.completions.create({ model: world.name, messages })).rejects.toMatchObject({
      status: 503,
      code: 'deployment_waking',
      error: { wake: { p50_seconds: expect.any(Number), p90_seconds: expect.any(Number) } },
    });
  });
});

describe('the copies', () => {
  test('get no more at a time than they can take, the oldest first', async () => {
    const world = await cold.createWorld({ fields: { max_concurrency_per_copy: 2 } });
    world.container.answerMs = 3_000;
    const { ask } = await world.createEnvironment();
    const replies: ReturnType<typeof ask>[] = [];
    for (let i = 0; i < 9; i++) {
      replies.push(ask(`Q${i}`, 280));
      await world.clock.advance(50);
    }
    await world.bringUp(1);
    const answers = await settle(world, Promise.all(replies));
    expect(answers.map(answerOf)).toEqual(replies.map((_, i) => `Answer to Q${i}`));
    expect(world.container.mostRunning).toBe(2);
    const places = world.container.questions.map((question) => Number(question.slice(1)));
    // Two that run at a time can arrive in either order.
    for (const [i, place] of places.entries()) expect(Math.abs(place - i)).toBeLessThanOrEqual(1);
    expect(await world.waiting()).toEqual(NOBODY);
  });

  test('that are added take more', async () => {
    const world = await cold.createWorld({ fields: { max_concurrency_per_copy: 2 } });
    world.container.answerMs = 60_000;
    const { ask } = await world.createEnvironment();
    const replies = Array.from({ length: 6 }, (_, i) => ask(`Q${i}`, 280));
    await world.clock.rest();
    await world.bringUp(1);
    await world.clock.advance(5_000);
    expect(world.container.running).toBe(2);
    await world.bringUp(2);
    await world.clock.advance(5_000);
    expect([world.container.running, await world.waiting()]).toEqual([4, { held: 6, running: 4 }]);
    await settle(world, Promise.all(replies));
  });

  test('that stay busy leave a request without an answer: 503 no_capacity, which costs nothing', async () => {
    const world = await cold.createWorld({ fields: { max_concurrency_per_copy: 1 } });
    world.container.answerMs = 100_000;
    const { ask } = await world.createEnvironment();
    const first = ask('First', 280);
    await world.clock.advance(100);
    const second = ask('Second', 30);
    await world.clock.rest();
    await world.bringUp();
    expect(errorOf(await settle(world, second)).code).toBe('no_capacity');
    expect(answerOf(await settle(world, first))).toBe('Answer to First');
  });
});

describe('the waiting list', () => {
  test('rejects a request beyond its cap at once, in any environment', async () => {
    const world = await cold.createWorld({ mostHeld: 2 });
    const environments = [await world.createEnvironment(), await world.createEnvironment()];
    const replies = environments.map(({ ask }) => ask('Hi', 280));
    await world.clock.rest();
    const third = await environments[0]?.ask('Hi', 280);
    expect(errorOf(third as { body: unknown })).toMatchObject({
      code: 'deployment_waking',
      message: expect.stringContaining('Too many requests wait'),
    });
    await world.bringUp();
    await settle(world, Promise.all(replies));
    expect(await world.waiting()).toEqual(NOBODY);
  });

  test('forgets holders that crashed, whether they waited or ran, and lets others in', async () => {
    const world = await cold.createWorld({ mostHeld: 3, fields: { max_concurrency_per_copy: 1 } });
    const { clock, waitingList, deployment } = world;
    const { ask } = await world.createEnvironment();
    /** Functions that crashed renew nothing. */
    for (const requestId of ['req_ran', 'req_waited'])
      await waitingList.join({ deploymentId: deployment.id, requestId, joinedAtMs: clock.now() - 1 }, clock.now());
    expect(await waitingList.release({ deploymentId: deployment.id, requestId: 'req_ran', joinedAtMs: 0 }, 1, clock.now())).toBe(true);
    const waiting = ask('Hi', 280);
    await clock.rest();
    expect(await world.waiting()).toEqual({ held: 3, running: 1 });
    expect(errorOf(await ask('Hi', 280)).message).toContain('Too many requests wait');
    await world.bringUp();
    await clock.advance(LEASE_MS - 1_000, 1_000);
    expect(world.container.invocations).toBe(0);
    await clock.advance(3_000, 1_000);
    expect(answerOf(await waiting)).toBe('Answer to Hi');
    expect(await world.waiting()).toEqual(NOBODY);
  });

  test('has room for others when holders that crashed have expired', async () => {
    const world = await cold.createWorld({ mostHeld: 1 });
    const { clock, waitingList, deployment } = world;
    const join = (requestId: string) => waitingList.join({ deploymentId: deployment.id, requestId, joinedAtMs: clock.now() }, clock.now());
    expect([await join('req_dead'), await join('req_dead'), await join('req_1')]).toEqual([true, true, false]);
    await clock.advance(LEASE_MS, LEASE_MS);
    expect([await join('req_1'), await join('req_2')]).toEqual([true, false]);
    expect(await world.waiting()).toEqual({ held: 1, running: 0 });
  });

  test('keeps the place of an answer that takes longer than its lease', async () => {
    const world = await cold.createWorld({ fields: { max_concurrency_per_copy: 1 } });
    world.container.answerMs = 3 * LEASE_MS;
    const { ask } = await world.createEnvironment();
    const replies = ['A', 'B'].map((question) => ask(question, 270));
    await world.clock.rest();
    await world.bringUp();
    await settle(world, Promise.all(replies));
    expect(world.container.mostRunning).toBe(1);
  });
});

test('200 callers of ten environments during a wake: one wake, the ones held are answered with their own answers, the rest get 503 at once', async () => {
  const world = await cold.createWorld({ mostHeld: 50, fields: { max_concurrency_per_copy: 8 } });
  world.container.answerMs = 1_000;
  const environments = await Promise.all(Array.from({ length: 10 }, () => world.createEnvironment()));
  const statuses: number[] = [];
  const replies = Array.from({ length: 200 }, async (_, i) => {
    const question = `Question ${i}`;
    // Every other one waits.
    const reply = await environments[i % 10]?.ask(question, i % 2 === 0 ? 280 : undefined);
    statuses.push(reply?.statusCode ?? 0);
    return { question, reply: reply as { statusCode: number; body: unknown } };
  });
  await world.clock.rest();
  expect(world.reconciled).toEqual([world.deployment.id]);
  expect([statuses.length, await world.waiting()]).toEqual([150, { held: 50, running: 0 }]);
  await world.clock.advance(30_000, 1_000);
  await world.bringUp(2);
  const ended = await settle(world, Promise.all(replies));
  const answered = ended.filter(({ reply }) => reply.statusCode === 200);
  expect(answered).toHaveLength(50);
  for (const { question, reply } of answered) expect(answerOf(reply)).toBe(`Answer to ${question}`);
  for (const { reply } of ended) if (reply.statusCode !== 200) expect(errorOf(reply).code).toBe('deployment_waking');
  expect(world.container.mostRunning).toBeLessThanOrEqual(16);
  expect((await world.row()).transitions.filter(({ state }) => state === 'waking')).toHaveLength(1);
  expect(await world.waiting()).toEqual(NOBODY);
  const events = (await Promise.all(environments.map((environment) => environment.events()))).flat();
  expect([events.length, events.filter(({ cost_nanos }) => cost_nanos > 0n).length]).toEqual([200, 50]);
});
