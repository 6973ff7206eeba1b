import { randomBytes } from 'node:crypto';
import type { Deployment, Generation } from '../../shared/deployments/deployment.ts';
import { awsNameOf } from '../../shared/deployments/names.ts';
import { idLike } from '../../shared/ids/id.ts';
import { newRequestId } from '../../shared/ids/request-id.ts';
import { logError } from '../../shared/logging/log.ts';
import { isOutput, tokenCount, type UpstreamChunk } from '../../shared/upstream/chunk.ts';
import { sentAs } from '../../shared/upstream/dialect.ts';
import { dialectOf } from '../../shared/upstream/dialects.ts';
import type { Invoke } from '../../shared/upstream/invocation.ts';
import { requestBody } from '../../shared/upstream/request-body.ts';
import type { Outcome, UsageEvent } from '../../shared/usage/event.ts';
import type { UsageStore } from '../../shared/usage/usage-store.ts';
import type { Sample } from './measure-level.ts';

const SALT_BYTES = 32;
const MAX_REASON_CHARACTERS = 40;
// The end user of a benchmark's requests, which tells them from others.
const USER_ID = 'benchmark';

export interface SendDependencies {
  invoke: Invoke;
  usage: Pick<UsageStore, 'addIfAbsent'>;
  /** The prefix of this installation's names. */
  installation: string;
  now: () => number;
  /** Milliseconds of a clock that is never set. */
  clock: () => number;
}

interface Subject {
  benchmark: string;
  deployment: Deployment;
  generation: Generation;
}

/** A request of a benchmark: its text, and the tokens that its answer must have. */
export interface BenchmarkRequest {
  text: string;
  completionTokens: number;
}

// The part of an answer that has come so far.
interface Answer {
  firstMs?: number;
  lastMs?: number;
  parts: number;
  usage?: { prompt_tokens: number; completion_tokens: number };
  finishReason?: string;
}

const noteEnd = (answer: Answer, { usage, choices }: UpstreamChunk): void => {
  const [prompt_tokens, completion_tokens] = [tokenCount(usage?.prompt_tokens), tokenCount(usage?.completion_tokens)];
  if (prompt_tokens !== undefined && completion_tokens !== undefined) answer.usage = { prompt_tokens, completion_tokens };
  const reason = choices?.[0]?.finish_reason;
  if (typeof reason === 'string') answer.finishReason = reason.toWellFormed().slice(0, MAX_REASON_CHARACTERS);
};

// The time between tokens is the mean of an answer, because a part of a stream can have several tokens.
const sampleOf = (answer: Answer, startMs: number): Sample => {
  const { firstMs, lastMs, parts, usage } = answer;
  if (firstMs === undefined || lastMs === undefined) throw new Error('The answer has no tokens.');
  const completionTokens = usage?.completion_tokens ?? parts;
  return {
    ttftMs: firstMs - startMs,
    interTokenMs: completionTokens > 1 ? (lastMs - firstMs) / (completionTokens - 1) : undefined,
    durationMs: lastMs - startMs,
    promptTokens: usage?.prompt_tokens ?? 0,
    completionTokens,
  };
};

const bodyOf = ({ deployment, generation }: Subject, requestId: string, { text, completionTokens }: BenchmarkRequest): string => {
  const dialect = dialectOf({ dialect: generation.runtime.dialect });
  const ignoreEos = sentAs('ignore_eos', dialect.fields.ignore_eos);
  const facts = {
    containerModel: deployment.name,
    maxTokens: completionTokens,
    requestId,
    // Nothing in the prompt cache has this salt.
    cacheSalt: randomBytes(SALT_BYTES).toString('hex'),
  };
  const length = {
    ...(ignoreEos !== undefined && { [ignoreEos]: true }),
    ...(dialect.extras.includes('min_tokens') && { min_tokens: completionTokens }),
  };
  return JSON.stringify(requestBody(dialect, facts, { messages: [{ role: 'user', content: text }] }, length));
};

/**
 * Sends the requests of a benchmark to a generation's endpoint. Each has a usage event, as other requests for the
 * deployment do; its tokens are free, too, because GPU time is charged.
 */
export const createRequestSender = ({ invoke, usage, installation, now, clock }: SendDependencies, subject: Subject) => {
  const { benchmark, deployment, generation } = subject;
  const { id, organization, name } = deployment;
  const endpoint = awsNameOf(installation, id, generation.number);
  const target = { endpoint, component: endpoint, container_model: name, weight: 1 };
  const writes = new Set<Promise<void>>();
  let sent = 0;

  const eventOf = (requestId: string, answer: Answer, ended: { startMs: number; admittedMs: number; outcome: Outcome }): UsageEvent => ({
    request_id: requestId,
    key_id: idLike('key', id),
    org_id: organization,
    model: name,
    route: '/v1/chat/completions',
    stream: true,
    prompt_tokens: answer.usage?.prompt_tokens ?? 0,
    cached_tokens: 0,
    completion_tokens: answer.usage?.completion_tokens ?? answer.parts,
    source: answer.usage ? 'runtime' : 'estimated',
    outcome: ended.outcome,
    finish_reason: answer.finishReason ?? null,
    admitted_at: ended.admittedMs,
    time_to_first_token_ms: answer.firstMs === undefined ? null : Math.round(answer.firstMs - ended.startMs),
    duration_ms: Math.round(clock() - ended.startMs),
    cost_nanos: 0n,
    price_version: idLike('price', id),
    endpoint,
    component: endpoint,
    user_id: USER_ID,
    metadata: { benchmark },
  });

  // Written beside the next request, so that its time doesn't lower the load.
  const record = (event: UsageEvent): void => {
    const write = usage
      .addIfAbsent(event)
      .catch((error: unknown) => logError('benchmark_event_not_written', error, { deployment: id, request_id: event.request_id }));
    writes.add(write);
    void write.finally(() => writes.delete(write));
  };

  const read = async (answer: Answer, body: string, abort: AbortController): Promise<void> => {
    for await (const chunks of invoke({ target, body, choices: 1, signal: abort })) {
      const atMs = clock();
      for (const chunk of chunks) {
        if (isOutput(chunk)) {
          answer.firstMs ??= atMs;
          answer.lastMs = atMs;
          answer.parts += 1;
        }
        noteEnd(answer, chunk);
      }
    }
  };

  return {
    /** Sends a request and reads its answer. @throws if it fails, or the signal is aborted */
    send: async (request: BenchmarkRequest, signal: AbortSignal): Promise<Sample> => {
      const admittedMs = now();
      const requestId = newRequestId(admittedMs);
      const body = bodyOf(subject, requestId, request);
      const answer: Answer = { parts: 0 };
      const abort = new AbortController();
      const stop = (): void => abort.abort();
      signal.addEventListener('abort', stop);
      if (signal.aborted) stop();
      const startMs = clock();
      sent += 1;
      let outcome: Outcome = 'completed';
      try {
        await read(answer, body, abort);
        return sampleOf(answer, startMs);
      } catch (error) {
        outcome = signal.aborted ? 'client_closed' : 'upstream_failed';
        throw error;
      } finally {
        signal.removeEventListener('abort', stop);
        record(eventOf(requestId, answer, { startMs, admittedMs, outcome }));
      }
    },

    /** The requests that were sent. */
    sent: (): number => sent,

    /** Resolves when the usage events of all requests are written. */
    recorded: async (): Promise<void> => void (await Promise.all(writes)),
  };
};

export type RequestSender = ReturnType<typeof createRequestSender>;
