import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { chatCompletions } from '../../../../functions/inference/chat/route.ts';
import { completions } from '../../../../functions/inference/completions/route.ts';
import { messages } from '../../../../functions/inference/messages/route.ts';
import type { InferenceRequest, InferenceRoute } from '../../../../functions/inference/pipeline/inference-route.ts';
import { responses } from '../../../../functions/inference/responses/route.ts';
import { validate } from '../../../../shared/http/validate.ts';
import { Model } from '../../../../shared/models/model.ts';
import type { Prompt } from '../../../../shared/tokens/prompt.ts';
import { dialects } from '../../../../shared/upstream/dialects.ts';
import { createCacheSalt } from '../../../../shared/upstream/request-body.ts';

// Prefix-aware routing reads the first bytes of a body, 1,024 at least and 65,536 at most. Requests of one conversation
// reach the instance with their cached prompt if these bytes are the same, and have nothing of a single request.
const SYSTEM = 'Answer in one sentence. '.repeat(60);
const TURNS = ['What is a sluice?', 'A gate that holds water back.', 'And a lock?', 'A chamber between two gates.', 'And a weir?'];
const weather = { type: 'object', properties: { place: { type: 'string' } }, required: ['place'] };

const sides = (turns: readonly string[]) => turns.map((content, turn) => ({ role: turn % 2 === 0 ? 'user' : 'assistant', content }));

interface Row {
  name: string;
  route: InferenceRoute<InferenceRequest, Prompt>;
  /** The request with so many turns of the conversation. */
  ask: (turns: readonly string[], seed: number) => Record<string, unknown>;
  /** The runtime's field with the conversation. */
  conversation: 'messages' | 'prompt';
}

const noStore = { store: {} as Parameters<typeof responses>[0]['store'], now: () => 0 };
const asRow = <Request extends InferenceRequest, P extends Prompt>(
  name: string,
  route: InferenceRoute<Request, P>,
  ask: Row['ask'],
  conversation: Row['conversation'] = 'messages',
): Row => ({ name, route: route as unknown as Row['route'], ask, conversation });

const ROWS: readonly Row[] = [
  asRow('chat completions', chatCompletions, (turns, seed) => ({
    messages: [{ role: 'system', content: SYSTEM }, ...sides(turns)],
    tools: [{ type: 'function', function: { name: 'get_weather', parameters: weather } }],
    max_tokens: 100 + seed,
    temperature: 0.5,
    seed,
    user: `user-${seed}`,
    metadata: { attempt: String(seed) },
    prompt_cache_isolation_key: 'team',
    stop: ['\n'],
  })),
  asRow('messages', messages, (turns, seed) => ({
    system: SYSTEM,
    messages: sides(turns),
    tools: [{ name: 'get_weather', input_schema: weather }],
    max_tokens: 100 + seed,
    temperature: 0.5,
    metadata: { user_id: `user-${seed}` },
    stop_sequences: ['\n'],
  })),
  asRow('responses', responses(noStore), (turns, seed) => ({
    instructions: SYSTEM,
    input: sides(turns),
    tools: [{ type: 'function', name: 'get_weather', parameters: weather }],
    max_output_tokens: 100 + seed,
    temperature: 0.5,
    metadata: { attempt: String(seed) },
    prompt_cache_key: 'team',
  })),
  asRow(
    'completions',
    completions,
    (turns, seed) => ({ prompt: `${SYSTEM}${turns.join('\n')}`, max_tokens: 100 + seed, temperature: 0.5, seed, user: `user-${seed}` }),
    'prompt',
  ),
];

const generating = Object.keys(dialects) as (keyof typeof dialects)[];
const CASES = ROWS.flatMap((row) => generating.map((dialect) => ({ ...row, dialect, title: `${row.name}, ${dialect}` })));
const CONTAINER_MODEL = 'org/served-model';
const saltOf = createCacheSalt('secret');

const modelOf = (dialect: Model['dialect']): Model =>
  Model.parse({
    name: 'm',
    status: 'published',
    created: 0,
    dialect,
    context_length: 32_768,
    max_output_tokens: 800,
    default_output_tokens: 100,
    targets: [{ endpoint: 'e', prefix_aware: true }],
    prices: [{ version: 'p', effective_at: 0, prompt_nanos: 1, completion_nanos: 1 }],
  });

const bodyOf = ({ route, dialect }: Pick<(typeof CASES)[number], 'route' | 'dialect'>, request: object, seed: number): string => {
  const model = modelOf(dialect);
  const parsed = validate(route.schema, { model: 'm', ...request });
  return JSON.stringify(
    route.toUpstream(parsed, model, {
      prompt: route.toPrompt(parsed, model),
      containerModel: CONTAINER_MODEL,
      maxTokens: 100 + seed,
      requestId: `req_${seed}`,
      cacheSalt: saltOf('org_a', parsed.prompt_cache_isolation_key),
    }),
  );
};

const commonLength = (one: string, other: string): number => {
  let length = 0;
  while (length < one.length && one[length] === other[length]) length += 1;
  return length;
};

describe('the bytes for a prefix-aware endpoint', () => {
  test.each(CASES)('begin with the model and the conversation so far: $title', ({ ask, conversation, ...row }) => {
    const [before, after] = [TURNS.slice(0, 3), TURNS].map((turns, seed) => bodyOf(row, ask(turns, seed), seed)) as [string, string];
    const sent = JSON.parse(before) as Record<string, unknown>;
    expect(Object.keys(sent).slice(0, 2)).toEqual(['model', conversation]);
    // Without the brackets or the quotation mark after the last turn, which only the shorter one has there.
    const shared = JSON.stringify({ model: CONTAINER_MODEL, [conversation]: sent[conversation] }).slice(0, -2);
    expect(before.startsWith(shared)).toBe(true);
    expect(commonLength(before, after)).toBeGreaterThanOrEqual(shared.length);
    expect(JSON.stringify(sent[conversation]).slice(0, SYSTEM.length + 100)).toContain(SYSTEM);
  });

  test.each(CASES)('differ only after the conversation in the same request sent again: $title', ({ ask, conversation, ...row }) => {
    const [one, other] = [1, 2].map((seed) => bodyOf(row, ask(TURNS, seed), seed)) as [string, string];
    const shared = JSON.stringify({ model: CONTAINER_MODEL, [conversation]: JSON.parse(one)[conversation] }).slice(0, -1);
    expect(commonLength(one, other)).toBeGreaterThanOrEqual(shared.length);
  });

  test.each(CASES)('are the same whatever the order of the caller’s fields is: $title', ({ ask, ...row }) => {
    const request = ask(TURNS, 1);
    const expected = bodyOf(row, request, 1);
    fc.assert(
      fc.property(fc.shuffledSubarray(Object.entries(request), { minLength: Object.keys(request).length }), (entries) => {
        expect(bodyOf(row, Object.fromEntries(entries), 1)).toBe(expected);
      }),
      { numRuns: 10 },
    );
  });

  test.each(CASES)('have the salt of the organization where the runtime takes one: $title', ({ ask, ...row }) => {
    const request = ask(TURNS, 1);
    const { cache_salt: salt } = JSON.parse(bodyOf(row, request, 1)) as { cache_salt?: string };
    const key = request.prompt_cache_isolation_key ?? request.prompt_cache_key;
    const takesSalt = row.dialect === 'vllm' || row.dialect === 'sluice';
    expect(salt).toBe(takesSalt ? saltOf('org_a', key as string | undefined) : undefined);
  });
});
