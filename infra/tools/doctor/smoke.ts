import { setTimeout as sleep } from 'node:timers/promises';
import * as z from 'zod';
import type { KeyItem } from '../../../shared/admission/item/key-item.ts';
import { shardsOf } from '../../../shared/admission/item/limiter-item.ts';
import { parseSecret } from '../../../shared/admission/item/secret.ts';
import type { LimiterConfigurationStore } from '../../../shared/admission/stores/limiter-configuration-store.ts';
import type { Model } from '../../../shared/models/model.ts';
import { type ModelStore, SERVERLESS_POOL } from '../../../shared/models/model-store.ts';
import { dollarsOf } from '../../../shared/prices/dollars.ts';
import { costNanos } from '../../../shared/prices/price.ts';
import type { UsageEvent } from '../../../shared/usage/event.ts';
import type { UsageStore } from '../../../shared/usage/usage-store.ts';
import { failure, ok, type Row } from './row.ts';

export interface SmokeDependencies {
  /** The base URL of the serverless host, which ends with the API's version. */
  baseUrl: string;
  models: Pick<ModelStore, 'list'>;
  limiters: Pick<LimiterConfigurationStore, 'get'>;
  usage: Pick<UsageStore, 'get'>;
}

const CHECK = 'smoke request';
const MAX_TOKENS = 16;
const REPLY_MS = 180_000;
// The event is written when the stream ends; later if DynamoDB is slow.
const POLL_MS = 250;
const MAX_POLLS = 120;
const MAX_ERROR_CHARACTERS = 300;

const StreamUsage = z.object({
  prompt_tokens: z.int(),
  completion_tokens: z.int(),
  prompt_tokens_details: z.object({ cached_tokens: z.int().default(0) }).nullish(),
});
type StreamUsage = z.output<typeof StreamUsage>;
const Chunk = z.object({ usage: StreamUsage.nullish(), error: z.unknown().optional() });

interface StreamedReply {
  status: number;
  requestId: string;
  /** Undefined if the stream broke off, or had none. */
  usage: StreamUsage | undefined;
  text: string;
}

const stream = async (baseUrl: string, secret: string, model: string): Promise<StreamedReply> => {
  const response = await fetch(`${baseUrl}/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${secret}`, 'content-type': 'application/json' },
    body: JSON.stringify({
      model,
      stream: true,
      stream_options: { include_usage: true },
      max_tokens: MAX_TOKENS,
      messages: [{ role: 'user', content: 'Say hello.' }],
    }),
    signal: AbortSignal.timeout(REPLY_MS),
  });
  const text = await response.text();
  const events = text.split('\n').flatMap((line) => (line.startsWith('data: ') ? [line.slice('data: '.length)] : []));
  const isWhole = events.at(-1) === '[DONE]';
  const chunks = isWhole ? events.slice(0, -1).map((event) => Chunk.parse(JSON.parse(event))) : [];
  const usage = chunks.findLast((chunk) => chunk.usage)?.usage ?? undefined;
  return { status: response.status, requestId: response.headers.get('x-request-id') ?? '', usage, text };
};

const eventOf = async ({ usage, limiters }: SmokeDependencies, keyId: string, requestId: string): Promise<UsageEvent | undefined> => {
  const limiter = await limiters.get(keyId);
  for (let poll = 0; poll < MAX_POLLS; poll++) {
    const event = await usage.get(keyId, requestId, limiter ? shardsOf(limiter) : 1);
    if (event) return event;
    await sleep(POLL_MS);
  }
  return undefined;
};

// Empty if the event agrees with the usage that the stream reported.
const differencesOf = (event: UsageEvent, usage: StreamUsage, { prices }: Model): string[] => {
  const { prompt_tokens: promptTokens, completion_tokens: completionTokens } = usage;
  const differ = (what: string, billed: unknown, expected: unknown): string[] =>
    billed === expected ? [] : [`${what}: ${billed} billed, but the stream says ${expected}`];
  const price = prices.find(({ version }) => version === event.price_version);
  if (!price) return [`the price version ${event.price_version} is not the model's`];
  const cost = costNanos(price, { promptTokens, cachedTokens: usage.prompt_tokens_details?.cached_tokens ?? 0, completionTokens });
  return [
    ...differ('prompt tokens', event.prompt_tokens, promptTokens),
    ...differ('completion tokens', event.completion_tokens, completionTokens),
    ...differ('dollars', dollarsOf(event.cost_nanos), dollarsOf(cost)),
  ];
};

/**
 * Sends one streamed request with an API key, and checks that it is billed as its stream says, at the model's price.
 * The request is charged.
 */
export const smokeRow = async (deps: SmokeDependencies, secret: string): Promise<Row> => {
  const key = parseSecret(secret);
  if (key?.scope !== 'serverless')
    return failure(CHECK, 'the key is no API key for the serverless host', 'npm run admin -- create-key --org ID');
  const allowed = ((await deps.limiters.get(key.keyId)) as KeyItem | undefined)?.models;
  const models = [...(await deps.models.list(SERVERLESS_POOL)).values()];
  const model = models.find(({ name, status }) => status === 'published' && (allowed?.includes(name) ?? true));
  if (!model) return failure(CHECK, 'no published model that the key may call', 'npm run admin -- publish-model --file model.json');
  const { status, requestId, usage, text } = await stream(deps.baseUrl, secret, model.name);
  const advice = `npm run admin -- why ${requestId}`;
  if (status !== 200 || !usage)
    return failure(CHECK, `${model.name}: ${status} ${text.slice(-MAX_ERROR_CHARACTERS)}`.replaceAll(/\s+/g, ' '), advice);
  const event = await eventOf(deps, key.keyId, requestId);
  if (!event) return failure(CHECK, `${model.name}: answered, but there is no usage event of ${requestId}`, advice);
  const differences = differencesOf(event, usage, model);
  if (differences.length > 0) return failure(CHECK, `${model.name}: ${differences.join('; ')}`, advice);
  const { prompt_tokens, completion_tokens } = usage;
  return ok(
    CHECK,
    `${model.name}: ${prompt_tokens} + ${completion_tokens} tokens, ${dollarsOf(event.cost_nanos)} billed by ${event.price_version}`,
  );
};
