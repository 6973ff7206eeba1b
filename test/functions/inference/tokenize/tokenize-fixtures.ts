import { detokenize, tokenize } from '../../../../functions/inference/tokenize/routes.ts';
import { answer } from '../../../../functions/tokenizer/answer.ts';
import { createTokenizers } from '../../../../functions/tokenizer/tokenizers.ts';
import { createInvokeFunction } from '../../../../shared/aws/invoke-function.ts';
import type { ApiEvent } from '../../../../shared/http/api-event.ts';
import { newRequestId } from '../../../../shared/ids/request-id.ts';
import { createInventory } from '../../../../shared/models/inventory.ts';
import { SERVERLESS_POOL } from '../../../../shared/models/model-store.ts';
import { TokenizerQuestion } from '../../../../shared/tokens/questions.ts';
import { createTokenizer } from '../../../../shared/tokens/tokenizer.ts';
import type { UsageStore } from '../../../../shared/usage/usage-store.ts';
import { startTestDatabase, type TestDatabase } from '../../../support/emulators/database.ts';
import { startFakeLambda } from '../../../support/emulators/fake-lambda.ts';
import { texts } from '../../../support/emulators/tokenizers.ts';
import { makeCaller, wide } from '../../../support/fixtures/callers.ts';
import { createKey, type TestKey } from '../../../support/fixtures/create-key.ts';
import { noQueue } from '../../../support/fixtures/pipeline.ts';

/** A database with one model that has a tokenizer and one that has none, and a fake Lambda. */
export const startTokenizeFakes = async () => {
  const database = await startTestDatabase();
  const lambda = await startFakeLambda();
  const common = {
    status: 'published' as const,
    created: 0,
    context_length: 3_000,
    max_output_tokens: 100,
    default_output_tokens: 50,
    targets: [{ endpoint: 'e' }] as [{ endpoint: string }],
    prices: [{ version: 'p1', effective_at: 0, prompt_nanos: 1_000_000, completion_nanos: 2_000_000 }],
  };
  await database.models.put(SERVERLESS_POOL, { ...common, name: 'plain' });
  await database.models.put(SERVERLESS_POOL, {
    ...common,
    name: 'm',
    tokenizer: { tokenizer: 'tokenizer', chat_template: 'chatTemplate' },
  });
  const close = async (): Promise<void> => {
    await lambda.close();
    await database.close();
  };
  return { database, lambda, close };
};
export type TokenizeFakes = Awaited<ReturnType<typeof startTokenizeFakes>>;

const tokenizers = createTokenizers(async (key) => texts[key as keyof typeof texts]);
/** The function `tokenizer`, as Lambda runs it. */
export const tokenizerAnswers = (lambda: TokenizeFakes['lambda']): void =>
  lambda.answers(async (response) => {
    const question = TokenizerQuestion.parse(JSON.parse(lambda.received.at(-1)?.body ?? ''));
    response.end(JSON.stringify(await answer(tokenizers, question)));
  });

interface Answered {
  status: number;
  headers: Record<string, string>;
  body: Record<string, unknown>;
}

/** A new key, and calls with it. */
export const setUpIn = async (database: TestDatabase, fields: Partial<TestKey> = {}, usage: UsageStore = database.usage) => {
  const { secret, key_id } = await createKey(database.limiters, { ...wide, ...fields });
  const inventory = createInventory(database.models, SERVERLESS_POOL, Date.now);
  const deps = {
    host: { scope: 'serverless' as const },
    modelsOf: () => inventory,
    keys: makeCaller(database.limiters, Date.now),
    usage,
    settlements: noQueue,
    tokenizer: createTokenizer(createInvokeFunction(), 'the-tokenizer'),
    now: Date.now,
  };
  const routes = { '/tokenize': tokenize('/tokenize', deps), '/detokenize': detokenize('/detokenize', deps) };
  const clock = { getRemainingTimeInMillis: () => 60_000 };
  const call = async (
    path: keyof typeof routes,
    body: object | string,
    authorization = `Bearer ${secret}`,
    others: Record<string, string> = {},
  ): Promise<Answered> => {
    const text = typeof body === 'string' ? body : JSON.stringify({ model: 'm', ...body });
    const event = {
      headers: { authorization, ...others },
      body: text,
      path,
      requestContext: {},
      requestId: newRequestId(Date.now()),
      receivedAtMs: Date.now(),
    };
    const { statusCode, headers, body: reply } = await routes[path](event as unknown as ApiEvent, clock);
    return { status: statusCode, headers, body: JSON.parse(String(reply)) as Record<string, unknown> };
  };
  const events = () => database.recentEvents(key_id);
  const inFlight = async (): Promise<number> => Object.keys((await database.limiters.whole(key_id))?.fl ?? {}).length;
  return { call, events, inFlight };
};
