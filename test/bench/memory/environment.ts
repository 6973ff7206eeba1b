import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import * as z from 'zod';
import type { LambdaFunction } from '../../../infra/assembly/local-app.ts';
import { smallNodeOptionsOf } from '../../../infra/constructs/functions/node-options.ts';
import { createPreludeSplitter } from '../../../infra/local/gateway/prelude-splitter.ts';
import { functionVariables } from '../../../infra/local/lambda/environment-variables.ts';
import { createEnvironment } from '../../../infra/local/lambda/execution-environment.ts';
import { writeRuntimeProgram } from '../../../infra/local/lambda/runtime-program.ts';
import { withLogFile } from '../../../infra/local/processes/log-file.ts';
import { createProcessList } from '../../../infra/local/processes/process-list.ts';
import { cpuMs } from '../lib/processes.ts';
import type { Stack } from '../stack.ts';
import { type CpuQuota, openCpuQuota } from './cpu-quota.ts';

const TIMEOUTS = { timeoutMs: 30_000, remainingMs: 600_000 };
// The first token of a reply is not later.
const MAX_HEAD_CHARACTERS = 65_536;
const TEXT = /"(?:content|text)":"[^"]/;

const Prelude = z.object({ statusCode: z.int() });

/** The reply to an invocation and the time that it took. */
export interface Invoked {
  status: number;
  /** In all threads of the process. */
  cpuMs: number;
  firstTokenMs: number;
  ms: number;
  text: string;
}

/** An execution environment of a function: one request at a time, frozen in between. */
export interface Environment {
  memoryMb: number;
  pid: number;
  /** From the start of the process until it can serve, without a quota, as Lambda does it. */
  init: { ms: number; cpuMs: number };
  /** Gives the process the share of a core of its memory from now on. Returns false where this machine forbids it. */
  throttle(): boolean;
  /** @param untilFirstToken disconnects at the first token, once this promise is resolved */
  invoke(event: object, untilFirstToken?: () => Promise<void>): Promise<Invoked>;
  close(): Promise<void>;
}

/**
 * Starts the function in a process of its own, with the variables and flags that it is deployed with at so much memory.
 * @param changed variables with other values
 */
export const startEnvironment = async (
  { run }: Pick<Stack, 'run'>,
  fn: LambdaFunction,
  memoryMb: number,
  changed: Readonly<Record<string, string>> = {},
): Promise<Environment> => {
  const folder = mkdtempSync(path.join(tmpdir(), 'sluice-bench-'));
  const processes = createProcessList();
  const sized = { ...fn, memoryMiB: memoryMb, environment: { ...fn.environment, NODE_OPTIONS: smallNodeOptionsOf(memoryMb) } };
  const variables = {
    ...functionVariables(sized, {
      dynamodbUrl: run.dynamodb_endpoint,
      sagemakerUrl: run.sagemaker_url,
      s3Url: run.s3_endpoint,
      lambdaUrl: run.lambda_endpoint,
      sqsUrl: run.sqs_endpoint,
      sesUrl: run.sqs_endpoint,
      cognitoUrl: null,
    }),
    // A new environment of Lambda has none.
    NODE_DISABLE_COMPILE_CACHE: '1',
    ...changed,
  };
  const startedAt = performance.now();
  const environment = withLogFile(folder, fn.shortName, (logFile) =>
    createEnvironment({
      fn: sized,
      variables,
      program: writeRuntimeProgram(),
      socketPath: path.join(folder, 'socket'),
      logFile,
      freezes: true,
      clockOffsetMs: () => 0,
      timeoutsOf: () => TIMEOUTS,
      processes,
    }),
  );
  const { pid } = environment;
  await environment.ready;
  const init = { ms: performance.now() - startedAt, cpuMs: cpuMs(pid) };
  environment.freeze();
  let quota: CpuQuota | undefined;

  const invoke = async (event: object, untilFirstToken?: () => Promise<void>): Promise<Invoked> => {
    const usedMs = cpuMs(pid);
    const invokedAt = performance.now();
    let settled = (): void => undefined;
    const end = new Promise<void>((resolve) => {
      settled = resolve;
    });
    const { body } = await environment.start(Buffer.from(JSON.stringify(event)), undefined, () => settled());
    const split = createPreludeSplitter();
    let status = 0;
    let text = '';
    let firstTokenMs = Number.NaN;
    body.on('data', (bytes: Buffer) => {
      if (status > 0) text += bytes.toString();
      else {
        const parts = split(bytes);
        if (typeof parts === 'string') return;
        status = Prelude.parse(JSON.parse(parts.prelude)).statusCode;
        text = parts.rest.toString();
      }
      if (Number.isNaN(firstTokenMs) && text.length < MAX_HEAD_CHARACTERS && TEXT.test(text)) {
        firstTokenMs = performance.now() - invokedAt;
        if (untilFirstToken) void untilFirstToken().then(() => body.destroy());
      }
    });
    await once(body, 'close');
    const ms = performance.now() - invokedAt;
    await end;
    environment.freeze();
    return { status, cpuMs: cpuMs(pid) - usedMs, firstTokenMs, ms, text };
  };

  return {
    memoryMb,
    pid,
    init,
    throttle: () => {
      quota = openCpuQuota(memoryMb);
      quota?.add(pid);
      return quota !== undefined;
    },
    invoke,
    close: async () => {
      environment.kill();
      await environment.exited;
      processes.close();
      quota?.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
};
