import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, jest, test } from '@jest/globals';
import OpenAI from 'openai';
import type { ReplyBody } from '../../../../functions/inference/pipeline/reply-body.ts';
import { openReply } from '../../../support/emulators/open-reply.ts';
import { type ColdWorld, startColdDeployments } from '../../../support/fixtures/cold-deployment.ts';
import { newId } from '../../../support/fixtures/new-id.ts';
import { read } from '../../../support/fixtures/pipeline.ts';
import { NOBODY, settle } from './hold-fixtures.ts';

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

describe('a stream that waits', () => {
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

  test('sees its own name of a shared model, and not the one that its owner gave it', async () => {
    const publishedAs = newId('key');
    const world = await cold.createWorld({ scope: 'serverless', publishedAs, fields: { name: 'acme-merger-plans' } });
    const { ask } = await world.createEnvironment({}, { org: 'org_other' });
    const { text, done } = await follow(ask('Hi', 560, { stream: true }));
    await world.clock.rest();
    expect(JSON.parse(text().slice(2))).toMatchObject({ model: publishedAs, state: 'waking' });
    await world.bringUp();
    await world.clock.advance(3_000, 500);
    await done;
    expect(text()).toContain('Answer to Hi');
    expect(text()).not.toContain('acme');
  });

  test('ends with an error event, without [DONE] and at no cost, if capacity never comes', async () => {
    const world = await cold.createWorld({ fields: { starts: [{ kind: 'wake', at: 0, seconds: 15 }] } });
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
        return transport(String(url), { ...init, headers } as RequestInit);
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

  test('gets a streamed response with the header', async () => {
    const world = await cold.createWorld();
    const client = await clientOf(world);
    const stream = await client.responses.create({ model: world.name, input: 'Hi', stream: true }, { headers });
    const events = Array.fromAsync(stream);
    await world.clock.advance(40_000, 1_000);
    await world.bringUp();
    const types = (await settle(world, events)).map(({ type }) => type);
    expect([types[0], types.at(-1)]).toEqual(['response.created', 'response.completed']);
  });

  test('gets a streamed response that failed with deployment_waking if capacity never comes', async () => {
    const world = await cold.createWorld({ fields: { starts: [{ kind: 'wake', at: 0, seconds: 15 }] } });
    const client = await clientOf(world);
    const request = { model: world.name, input: 'Hi', stream: true as const };
    const stream = await client.responses.create(request, { headers: { 'X-Wait-For-Capacity': '20' } });
    const last = (await settle(world, Array.fromAsync(stream))).at(-1);
    expect(last).toMatchObject({ type: 'response.failed', response: { status: 'failed', error: { code: 'deployment_waking' } } });
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
