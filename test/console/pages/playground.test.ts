import { describe, expect, test } from '@jest/globals';
import { ApiFailure } from '../../../console/client/api-failure.ts';
import { type Answer, measuresOf, messagesFor, newAnswer, type Turn } from '../../../console/pages/playground/conversation.ts';
import { choiceOf, modelChosen, playgroundPath, usableModels } from '../../../console/pages/playground/model-choice.ts';
import { bodyOf, EMPTY_SETTINGS, faultsOf } from '../../../console/pages/playground/settings.ts';
import { type ChatPart, readChat } from '../../../console/pages/playground/stream-chat.ts';
import { MAX_WAKE_SECONDS, progressOf, wakeOf } from '../../../console/pages/playground/wake.ts';

const model = { name: 'qwen', capabilities: { json_object: true } };
const user = (content: string) => ({ role: 'user', content }) as const;
const REQUEST = 'req_0123456789';

describe('bodyOf', () => {
  test('has only what was typed, so that the model’s defaults apply to the rest', () => {
    const body = bodyOf(model, [user('Hi')], EMPTY_SETTINGS);
    expect(body).toEqual({ model: 'qwen', messages: [user('Hi')], stream: true, stream_options: { include_usage: true } });
  });

  test('has each setting under its name in the API', () => {
    const settings = {
      ...EMPTY_SETTINGS,
      system: 'Be brief.',
      temperature: '0',
      topP: '0.5',
      maxTokens: '64',
      stop: 'END\n\nSTOP',
      effort: 'low',
      isJson: true,
    } as const;
    expect(bodyOf(model, [user('Hi')], settings)).toEqual({
      model: 'qwen',
      messages: [{ role: 'system', content: 'Be brief.' }, user('Hi')],
      temperature: 0,
      top_p: 0.5,
      max_tokens: 64,
      stop: ['END', 'STOP'],
      reasoning_effort: 'low',
      response_format: { type: 'json_object' },
      stream: true,
      stream_options: { include_usage: true },
    });
    expect(bodyOf({ name: 'qwen', capabilities: { json_object: false } }, [], settings)).not.toHaveProperty('response_format');
  });
});

describe('faultsOf', () => {
  test('rejects what the API would reject', () => {
    const wrong = { ...EMPTY_SETTINGS, temperature: '2.1', topP: 'a', maxTokens: '0', stop: '1\n2\n3\n4\n5' };
    expect(Object.keys(faultsOf(wrong))).toEqual(['temperature', 'topP', 'maxTokens', 'stop']);
    expect(faultsOf({ ...EMPTY_SETTINGS, temperature: '2', topP: '1', maxTokens: '1', stop: '1\n2\n3\n4' })).toEqual({});
  });
});

const answerOf = (fields: Partial<Answer>): Answer => ({
  ...newAnswer({ baseUrl: '', body: bodyOf(model, [], EMPTY_SETTINGS) }, undefined),
  state: 'completed',
  ...fields,
});
const turnOf = (text: string, answers: Turn['answers']): Turn => ({ id: text, text, answers });

describe('messagesFor', () => {
  test('has the answered turns, and leaves out those that failed', () => {
    const turns = [
      turnOf('One', { model: answerOf({ text: 'first' }) }),
      turnOf('Two', { model: answerOf({ state: 'failed', text: 'half' }) }),
      turnOf('Three', { model: answerOf({ state: 'stopped', text: 'third' }) }),
    ];
    const contents = messagesFor(turns, 'model', 'Four').map(({ content }) => content);
    expect(contents).toEqual(['One', 'first', 'Three', 'third', 'Four']);
  });

  test('gives each model its own answers, and those of the other one where it gave none', () => {
    const turns = [
      turnOf('One', { model: answerOf({ text: 'a1' }) }),
      turnOf('Two', { model: answerOf({ text: 'a2' }), with: answerOf({ text: 'b2' }) }),
    ];
    expect(messagesFor(turns, 'with', 'Three').map(({ content }) => content)).toEqual(['One', 'a1', 'Two', 'b2', 'Three']);
    expect(messagesFor(turns, 'model', 'Three').map(({ content }) => content)).toEqual(['One', 'a1', 'Two', 'a2', 'Three']);
  });
});

describe('measuresOf', () => {
  test('counts the tokens after the first over the time after the first', () => {
    const usage = { prompt_tokens: 5, completion_tokens: 21 };
    const answer = answerOf({ startedAtMs: 1_000, firstAtMs: 1_200, lastAtMs: 2_200, usage });
    expect(measuresOf(answer)).toEqual({ firstTokenMs: 200, tokensPerSecond: 20 });
  });

  test('knows no speed of an answer that came at once, or not at all', () => {
    expect(measuresOf(answerOf({}))).toEqual({ firstTokenMs: undefined, tokensPerSecond: undefined });
    const usage = { prompt_tokens: 5, completion_tokens: 9 };
    expect(measuresOf(answerOf({ firstAtMs: 3, lastAtMs: 3, usage })).tokensPerSecond).toBeUndefined();
  });
});

const streamOf = (text: string): ReadableStream<Uint8Array<ArrayBuffer>> =>
  new ReadableStream({
    start: (controller) => {
      // One byte at a time, also within a character.
      for (const byte of new TextEncoder().encode(text)) controller.enqueue(new Uint8Array([byte]));
      controller.close();
    },
  });
const event = (data: unknown): string => `data: ${JSON.stringify(data)}\n\n`;
const delta = (content: string, finish_reason: string | null = null): string => event({ choices: [{ delta: { content }, finish_reason }] });

const read = async (text: string): Promise<{ parts: ChatPart[]; failure?: ApiFailure }> => {
  const parts: ChatPart[] = [];
  try {
    await readChat(streamOf(text), REQUEST, (part) => parts.push(part));
    return { parts };
  } catch (failure) {
    return { parts, failure: failure as ApiFailure };
  }
};

describe('readChat', () => {
  test('reads text, finish reason and usage until the stream is done', async () => {
    const usage = { prompt_tokens: 3, completion_tokens: 2 };
    const { parts, failure } = await read(
      `: keep-alive\n\n${delta('Grüß')}${delta('e', 'stop')}${event({ choices: [], usage })}data: [DONE]\n\n${delta('more')}`,
    );
    expect(failure).toBeUndefined();
    expect(parts.map(({ text }) => text)).toEqual(['Grüß', 'e', '']);
    expect(parts.map(({ finishReason }) => finishReason)).toEqual([null, 'stop', null]);
    expect(parts.at(-1)?.usage).toEqual(usage);
  });

  test('keeps what arrived before an error event, and has the error’s own words', async () => {
    const error = { message: 'The model failed. Try again.', type: 'server_error', code: 'upstream_error', param: null };
    const { parts, failure } = await read(`${delta('half')}${event({ error, request_id: REQUEST })}${delta('never')}`);
    expect(parts.map(({ text }) => text)).toEqual(['half']);
    expect(failure).toMatchObject({ message: error.message, code: 'upstream_error', requestId: REQUEST });
  });

  test.each([
    ['ends without [DONE]', delta('half', 'stop')],
    ['ends within an event', `${delta('half')}data: {"choices"`],
    ['has an event that is no JSON', `${delta('half')}data: oops\n\n`],
    ['has an event that is no object', `${delta('half')}data: null\n\n`],
  ])('fails for a stream that %s', async (_, text) => {
    const { parts, failure } = await read(text);
    expect(parts.map((part) => part.text)).toEqual(['half']);
    expect(failure).toMatchObject({ code: 'stream_broken', requestId: REQUEST });
  });
});

const waking = (retryAfterSeconds: number | undefined) =>
  new ApiFailure({
    status: 503,
    code: 'deployment_waking',
    message: "The deployment 'qwen-1.5' is starting. Try again then.",
    retryAfterSeconds,
    details: { wake: { started_at: 100, expected_at: 400, p50_seconds: 300, p90_seconds: 420 } },
  });

describe('wakeOf', () => {
  test('sends again when the service says so, but at least once a minute', () => {
    expect(wakeOf(waking(20), 100, 100)).toMatchObject({
      sentence: "The deployment 'qwen-1.5' is starting.",
      startedAt: 100,
      expectedAt: 400,
      sentAgainAt: 120,
      p90Seconds: 420,
    });
    expect(wakeOf(waking(300), 100, 100)?.sentAgainAt).toBe(160);
    expect(wakeOf(waking(undefined), 100, 100)?.sentAgainAt).toBe(115);
  });

  test('stops after a time limit, and sends nothing again after other failures', () => {
    expect(wakeOf(waking(20), 100, 100 + MAX_WAKE_SECONDS)).toBeUndefined();
    expect(wakeOf(new ApiFailure({ status: 503, code: 'no_capacity', message: 'Busy.' }), 100, 100)).toBeUndefined();
    expect(wakeOf(new TypeError('x'), 100, 100)).toBeUndefined();
  });
});

describe('progressOf', () => {
  test('grows with the time, and is never complete before the answer', () => {
    const wake = { startedAt: 100, expectedAt: 300 };
    expect([50, 100, 200, 300, 900].map((now) => progressOf(wake, now))).toEqual([0, 0, 0.5, 0.98, 0.98]);
  });
});

describe('modelChosen', () => {
  const shared = { name: 'a/b', organization: null, status: 'published', task: 'generate' };
  const own = { name: 'a/b', organization: 'org_1', status: 'published', task: 'generate' };
  const only = { name: 'c', organization: 'org_1', status: 'unpublished', task: 'generate' };
  const hidden = { name: 'd', organization: null, status: 'unpublished', task: 'generate' };
  const embedder = { name: 'e', organization: null, status: 'published', task: 'embed' };
  const models = [shared, own, only, hidden, embedder] as unknown as Parameters<typeof modelChosen>[0];

  test('tells a shared model from a deployment of the same name', () => {
    expect(modelChosen(models, choiceOf(shared))).toBe(shared);
    expect(modelChosen(models, choiceOf(own))).toBe(own);
    expect(playgroundPath(own)).toBe('/playground?model=%7Ea%2Fb&organization=org_1');
  });

  test('finds a deployment by its plain name, and nothing by an unknown one', () => {
    expect(modelChosen(models, 'c')).toBe(only);
    expect(modelChosen(models, 'f')).toBeUndefined();
  });

  test('offers models that generate text: deployments, and shared ones that are published', () => {
    expect(usableModels(models)).toEqual([shared, own, only]);
  });
});
