import { beforeAll, expect, test } from '@jest/globals';
import { MESSAGES_PATH } from '../../../shared/http/messages-path.ts';
import type { TestRun } from '../../support/clients/local-run.ts';
import type { ScriptedContainer } from '../../support/emulators/scripted-container.ts';
import { CACHED_NANOS, COMPLETION_NANOS, PRICED, PROMPT_NANOS, scripted } from './run.ts';

const CACHED_TOKENS = 64;
const COMPLETION_TOKENS = 21;

let container: ScriptedContainer;
let run: TestRun;
beforeAll(async () => {
  const started = await scripted.start();
  container = started.container;
  run = started.walk.run;
});

const name = 'get_weather';
const description = 'The weather of a place.';
const parameters = { type: 'object', properties: { place: { type: 'string' } }, required: ['place'] };
const system = 'Answer in one sentence.';
const question = 'Is it raining in Bergen?';
const place = { place: 'Bergen' };
const result = 'Rain until noon.';
const id = 'call_1';
const limit = 100;

// The same conversation for each API, without thinking.
const CONVERSATIONS: Readonly<Record<string, object>> = {
  '/v1/chat/completions': {
    messages: [
      { role: 'system', content: system },
      { role: 'user', content: question },
      { role: 'assistant', content: null, tool_calls: [{ id, type: 'function', function: { name, arguments: JSON.stringify(place) } }] },
      { role: 'tool', tool_call_id: id, content: result },
    ],
    tools: [{ type: 'function', function: { name, description, parameters } }],
    max_tokens: limit,
    thinking: { type: 'disabled' },
  },
  '/v1/responses': {
    instructions: system,
    input: [
      { role: 'user', content: question },
      { type: 'function_call', call_id: id, name, arguments: JSON.stringify(place) },
      { type: 'function_call_output', call_id: id, output: result },
    ],
    tools: [{ type: 'function', name, description, parameters }],
    max_output_tokens: limit,
    reasoning: { effort: 'none' },
  },
  [MESSAGES_PATH]: {
    system,
    messages: [
      { role: 'user', content: question },
      { role: 'assistant', content: [{ type: 'tool_use', id, name, input: place }] },
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: id, content: result }] },
    ],
    tools: [{ name, description, input_schema: parameters }],
    max_tokens: limit,
  },
};

// The prompt's tokens depend on everything that the model gets.
const answer: Parameters<ScriptedContainer['play']>[0] = ({ messages, tools }) => ({
  text: 'It rains in Bergen until noon.',
  usage: {
    prompt_tokens: JSON.stringify([messages, tools]).length,
    prompt_tokens_details: { cached_tokens: CACHED_TOKENS },
    completion_tokens: COMPLETION_TOKENS,
  },
});

// Its events, with the prompt that the model got.
const charge = async (path: string, stream: boolean) => {
  container.play(answer);
  const { secret, key_id } = await run.createKey();
  const response = await fetch(run.base_url + path, {
    method: 'POST',
    headers: { authorization: `Bearer ${secret}`, 'content-type': 'application/json' },
    body: JSON.stringify({ ...CONVERSATIONS[path], model: PRICED, stream }),
  });
  expect([path, response.status, await response.text()]).toEqual([path, 200, expect.stringContaining('rain')]);
  const [sent] = container.requests;
  const [event] = await run.eventsOf(key_id);
  const { prompt_tokens, cached_tokens, completion_tokens, cost_nanos, outcome } = event ?? {};
  const prompt = { messages: sent?.messages, tools: sent?.tools };
  return { prompt, charged: { prompt_tokens, cached_tokens, completion_tokens, cost_nanos, outcome } };
};

test('a conversation costs the same with each API, whole and streamed, cached tokens included', async () => {
  const expected = await charge('/v1/chat/completions', false);
  const { prompt_tokens = 0 } = expected.charged;
  const cost = (prompt_tokens - CACHED_TOKENS) * PROMPT_NANOS + CACHED_TOKENS * CACHED_NANOS + COMPLETION_TOKENS * COMPLETION_NANOS;
  expect(expected.charged).toMatchObject({ cached_tokens: CACHED_TOKENS, outcome: 'completed', cost_nanos: BigInt(cost) });
  for (const path of Object.keys(CONVERSATIONS))
    for (const stream of [false, true]) expect([path, stream, await charge(path, stream)]).toEqual([path, stream, expected]);
});
