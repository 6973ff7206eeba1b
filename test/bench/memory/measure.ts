import { setTimeout as delay } from 'node:timers/promises';
import { interpret } from '../../../infra/assembly/interpret.ts';
import type { LambdaFunction } from '../../../infra/assembly/local-app.ts';
import { readAssembly } from '../../../infra/assembly/read-assembly.ts';
import { LOCAL_MODEL } from '../../../infra/local/container.ts';
import { InvocationFailed } from '../../../infra/local/lambda/invocation.ts';
import type { Model } from '../../../shared/models/model.ts';
import { SERVERLESS_POOL } from '../../../shared/models/model-store.ts';
import { residentMiB } from '../../support/resident-memory.ts';
import { ask } from '../client.ts';
import { chatEvent } from '../cold-start.ts';
import { wakeUps } from '../lib/processes.ts';
import { rotated } from '../lib/statistics.ts';
import { shortBody } from '../prompts.ts';
import type { Stack } from '../stack.ts';
import { createColdCaches } from './cold-caches.ts';
import { type Environment, type Invoked, startEnvironment } from './environment.ts';

const STARTS = 5;
const ROUNDS = 50;
// The rounds also end after this time.
const ROUNDS_MS = 75_000;
const TOKEN_DELAY_MS = 1_000 / 30;
const STREAMS = { short: 30, long: 150 } as const;
const STREAM_ROUNDS = 2;
const IDLE_MS = 5_000;
// The largest body that API Gateway passes to a function in an event of 6 MB.
const LARGEST_BODY_BYTES = 4_500_000;

/** The measurements of one size. */
export interface Size {
  memoryMb: number;
  isThrottled: boolean;
  starts: { ms: number; cpuMs: number; firstMs: number; firstCpuMs: number }[];
  /** Without streaming. `modelMs`: what the model itself took, in the same round. */
  chats: (Invoked & { modelMs: number })[];
  /** Short streams; the model's first token in the same round. */
  firstTokens: (Pick<Invoked, 'cpuMs'> & { addedMs: number })[];
  streams: Record<keyof typeof STREAMS, (Invoked & { modelMs: number; tokens: number })[]>;
  /** While a stream waits for its model. */
  wakeUpsPerSecond: number;
  residentMiB: { now: number; peak: number };
  /** Undefined: its process died. */
  largest: { status: number; peakMiB: number } | undefined;
}

const streamBody = (tokens: number): string =>
  JSON.stringify({
    model: LOCAL_MODEL,
    messages: [{ role: 'user', content: 'Tell me about rivers.' }],
    stream: true,
    max_tokens: tokens,
    ignore_eos: true,
  });

// A model whose window every body fits into, so that the function passes it on. The container rejects it.
const WIDE_MODEL = `${LOCAL_MODEL}-wide`;
const WIDE_WINDOW_TOKENS = 10_000_000;

const largestBody = (): string => {
  const bodyOf = (content: string): string => JSON.stringify({ model: WIDE_MODEL, messages: [{ role: 'user', content }], max_tokens: 1 });
  return bodyOf('word '.repeat((LARGEST_BODY_BYTES - bodyOf('').length) / 5));
};

const expectOk = (invoked: Invoked): Invoked => {
  if (invoked.status !== 200) throw new Error(`Status ${invoked.status}: ${invoked.text.slice(0, 500)}`);
  return invoked;
};

const emptySize = ({ memoryMb }: Environment, isThrottled: boolean): Size => ({
  memoryMb,
  isThrottled,
  starts: [],
  chats: [],
  firstTokens: [],
  streams: { short: [], long: [] },
  wakeUpsPerSecond: Number.NaN,
  residentMiB: { now: Number.NaN, peak: Number.NaN },
  largest: undefined,
});

/**
 * Runs `inference` as Lambda does, at several sizes: each environment has the CPU time of its memory, serves one
 * request at a time and is frozen in between, while the caches become cold. The sizes alternate.
 */
export const measureSizes = async (stack: Stack, assemblyDir: string, memoryMbs: readonly number[]): Promise<Size[]> => {
  const { functions } = interpret(await readAssembly(assemblyDir));
  const fn = functions.find(({ shortName }) => shortName === 'inference') as LambdaFunction;
  const { run, servers } = stack;
  const chat = (await run.models.list(SERVERLESS_POOL)).get(LOCAL_MODEL) as Model;
  await run.models.put(SERVERLESS_POOL, { ...chat, name: WIDE_MODEL, context_length: WIDE_WINDOW_TOKENS });
  const eventOf = (body: string): object => chatEvent(servers.sluice.headers.authorization ?? '', body);
  const caches = createColdCaches();
  const open: Environment[] = [];
  const starts = new Map<number, Size['starts']>(memoryMbs.map((memoryMb) => [memoryMb, []]));

  let isThrottled = false;
  const start = async (memoryMb: number): Promise<Environment> => {
    await caches.walk();
    const environment = await startEnvironment(stack, fn, memoryMb);
    open.push(environment);
    isThrottled = environment.throttle();
    await caches.walk();
    const first = expectOk(await environment.invoke(eventOf(shortBody(false))));
    starts.get(memoryMb)?.push({ ...environment.init, firstMs: first.ms, firstCpuMs: first.cpuMs });
    return environment;
  };

  try {
    for (let round = 1; round < STARTS; round += 1)
      for (const memoryMb of rotated(memoryMbs, round)) {
        const environment = await start(memoryMb);
        open.splice(open.indexOf(environment), 1);
        await environment.close();
      }
    const sizes: { environment: Environment; size: Size }[] = [];
    for (const memoryMb of memoryMbs) {
      const environment = await start(memoryMb);
      sizes.push({ environment, size: { ...emptySize(environment, isThrottled), starts: starts.get(memoryMb) ?? [] } });
    }

    const endsAt = performance.now() + ROUNDS_MS;
    for (let round = 0; round < ROUNDS && performance.now() < endsAt; round += 1) {
      const whole = await ask(servers.direct, shortBody(false));
      const streamed = await ask(servers.direct, shortBody(true));
      for (const { environment, size } of rotated(sizes, round)) {
        await caches.walk();
        size.chats.push({ ...expectOk(await environment.invoke(eventOf(shortBody(false)))), modelMs: whole.latencyMs });
        await caches.walk();
        const { firstTokenMs, cpuMs } = expectOk(await environment.invoke(eventOf(shortBody(true))));
        size.firstTokens.push({ addedMs: firstTokenMs - (streamed.firstTokenMs ?? Number.NaN), cpuMs });
      }
    }

    await run.control('container', { token_delay_ms: TOKEN_DELAY_MS });
    for (let round = 0; round < STREAM_ROUNDS; round += 1)
      for (const length of ['short', 'long'] as const) {
        const tokens = STREAMS[length];
        const body = streamBody(tokens);
        const [model] = await Promise.all([
          ask(servers.direct, body),
          ...sizes.map(async ({ environment, size }) => {
            size.streams[length].push({ ...expectOk(await environment.invoke(eventOf(body))), modelMs: Number.NaN, tokens });
          }),
        ]);
        for (const { size } of sizes) (size.streams[length].at(-1) as { modelMs: number }).modelMs = model.latencyMs;
      }

    await run.control('container', { token_delay_ms: 0, fault: { kind: 'hang', after_tokens: 3 } });
    await Promise.all(
      sizes.map(({ environment, size }) =>
        environment.invoke(eventOf(streamBody(STREAMS.long)), async () => {
          // By then, all that follows the first token is over.
          await delay(IDLE_MS / 2);
          const before = wakeUps(environment.pid);
          await delay(IDLE_MS);
          size.wakeUpsPerSecond = ((wakeUps(environment.pid) - before) / IDLE_MS) * 1_000;
        }),
      ),
    );
    await run.control('container');

    for (const { environment, size } of sizes) {
      size.residentMiB = residentMiB(environment.pid);
      try {
        const { status } = await environment.invoke(eventOf(largestBody()));
        size.largest = { status, peakMiB: residentMiB(environment.pid).peak };
      } catch (error) {
        if (!(error instanceof InvocationFailed) || error.reason !== 'died') throw error;
      }
    }
    return sizes.map(({ size }) => size);
  } finally {
    await Promise.all(open.map((environment) => environment.close()));
    await caches.close();
  }
};
