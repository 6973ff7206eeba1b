import { execFile } from 'node:child_process';
import path from 'node:path';
import { promisify } from 'node:util';
import * as z from 'zod';
import { interpret } from '../../infra/assembly/interpret.ts';
import type { LambdaFunction } from '../../infra/assembly/local-app.ts';
import { readAssembly } from '../../infra/assembly/read-assembly.ts';
import { functionVariables } from '../../infra/local/lambda/environment-variables.ts';
import { newSecret } from '../../shared/admission/item/secret.ts';
import { bundleFile } from '../support/assembly/bundle-files.ts';
import { bundleSizes } from './bundles.ts';
import { median, rotated } from './lib/statistics.ts';
import { shortBody } from './prompts.ts';
import type { Findings, Row } from './report.ts';
import type { Stack } from './stack.ts';

const PROBE = path.join(import.meta.dirname, 'cold-start-probe.mjs');
const ROUNDS = 15;
const TIMEOUT_MS = 10_000;

const Times = z.object({
  status: z.int().optional(),
  startMs: z.number(),
  importMs: z.number(),
  handledMs: z.number(),
  callsMs: z.array(z.number()),
});
type Times = z.infer<typeof Times>;

// A first invocation, and a way to see when its first AWS call is done.
interface Cold {
  label: string;
  functionName: string;
  event: object;
  status: number | undefined;
  doneMs: (times: Times) => number;
  target?: number;
}

const handled = ({ handledMs }: Times): number => handledMs;
// The sweep makes dozens of calls one after another, so the first is done when the second begins.
const secondCall = ({ callsMs }: Times): number => callsMs[1] ?? Number.NaN;

/** The event of a request for a chat completion. */
export const chatEvent = (authorization: string, body: string): object => ({
  httpMethod: 'POST',
  path: '/v1/chat/completions',
  resource: '/v1/chat/completions',
  headers: { authorization, 'content-type': 'application/json' },
  body,
  isBase64Encoded: false,
  requestContext: { requestId: 'bench' },
});

const coldInvocations = ({ keyId, servers }: Stack): Cold[] => {
  const wrong = `Bearer ${newSecret('serverless', keyId).secret}`;
  const right = servers.sluice.headers.authorization ?? '';
  const health = {
    httpMethod: 'GET',
    path: '/health',
    resource: '/{proxy+}',
    pathParameters: { proxy: 'health' },
    headers: {},
    body: null,
    isBase64Encoded: false,
    requestContext: {},
  };
  return [
    // An invalid body with a wrong secret: one read of the key, then 401.
    {
      label: 'import + first AWS call (a 401)',
      functionName: 'inference',
      event: chatEvent(wrong, '{}'),
      status: 401,
      doneMs: handled,
      target: 65,
    },
    { label: 'import + first AWS calls (/health)', functionName: 'catalog', event: health, status: 200, doneMs: handled, target: 50 },
    { label: 'import + first AWS call (sweep)', functionName: 'metering', event: {}, status: undefined, doneMs: secondCall, target: 80 },
    {
      label: 'import + first completion, whole',
      functionName: 'inference',
      event: chatEvent(right, shortBody(false)),
      status: 200,
      doneMs: handled,
    },
  ];
};

/**
 * Measures each function in fresh processes with the environment of the local run: bundle size, import time, first
 * AWS call. Reports medians.
 */
export const measureColdStarts = async (stack: Stack, assemblyDir: string): Promise<Findings> => {
  const { functions } = interpret(await readAssembly(assemblyDir));
  const find = (name: string): LambdaFunction => functions.find(({ shortName }) => shortName === name) as LambdaFunction;
  const colds = coldInvocations(stack);
  const times = new Map<Cold, Times[]>(colds.map((cold) => [cold, []]));
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const cold of rotated(colds, round)) times.get(cold)?.push(await probe(stack, find(cold.functionName), cold));
  }
  const sizes = [...new Set(colds.map(({ functionName }) => functionName))].flatMap((name) => sizeRows(name, find(name)));
  const rows = colds.flatMap((cold): Row[] => {
    const all = times.get(cold) ?? [];
    const { functionName, label, doneMs, target } = cold;
    const imports = { figure: `${functionName}: import ms`, digits: 1, sluice: median(all.map(({ importMs }) => importMs)) };
    const first = { figure: `${functionName}: ${label} ms`, digits: 1, sluice: median(all.map(doneMs)), ...(target && { target }) };
    return target ? [imports, first] : [first];
  });
  const calls = colds.map(
    (cold) => `${cold.label.slice('import + '.length)}: ${median((times.get(cold) ?? []).map(({ callsMs }) => callsMs.length))}`,
  );
  const emptyMs = median([...times.values()].flat().map(({ startMs }) => startMs));
  return {
    rows: [...sizes, ...rows],
    notes: [
      `\nCold starts: medians of ${ROUNDS} fresh processes, without the ${emptyMs.toFixed(0)} ms until an empty one runs its first line. AWS calls made: ${calls.join(', ')}.`,
    ],
  };
};

// In kB of a bundle at its start.
const MAX_BUNDLE_KB: Readonly<Record<string, number>> = { inference: 300, catalog: 153.6 };

const sizeRows = (name: string, fn: LambdaFunction): Row[] => {
  const { start, all } = bundleSizes(fn);
  const target = MAX_BUNDLE_KB[name];
  return [
    { figure: `${name}: bundle kB loaded at start, minified`, digits: 0, sluice: start.minified, ...(target && { target }) },
    { figure: `${name}: bundle kB with what is loaded later, minified`, digits: 0, sluice: all.minified },
    { figure: `${name}: bundle kB loaded at start, gzipped`, digits: 0, sluice: start.gzipped },
  ];
};

const probe = async ({ run }: Stack, fn: LambdaFunction, { event, status, label }: Cold): Promise<Times> => {
  const env = functionVariables(fn, {
    dynamodbUrl: run.dynamodb_endpoint,
    sagemakerUrl: run.sagemaker_url,
    s3Url: run.s3_endpoint,
    lambdaUrl: run.lambda_endpoint,
    sqsUrl: run.sqs_endpoint,
    sesUrl: run.sqs_endpoint,
    cognitoUrl: null,
  });
  const streaming = fn.shortName === 'inference';
  const { stderr } = await promisify(execFile)(process.execPath, [PROBE, JSON.stringify({ bundle: bundleFile(fn), event, streaming })], {
    env,
    timeout: TIMEOUT_MS,
  });
  const times = Times.parse(JSON.parse(stderr.trim().split('\n').at(-1) ?? ''));
  if (times.status !== status) throw new Error(`${fn.shortName}, ${label}: status ${times.status} instead of ${status}`);
  return times;
};
