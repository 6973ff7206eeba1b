import type { ServerResponse } from 'node:http';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { ChecksFailed } from '../../../../functions/control/model-registry/errors.ts';
import type { NewModel } from '../../../../shared/models/model.ts';
import { reportOf } from '../../../support/fixtures/managed-models.ts';
import { checksWith, type Fakes, startFakes } from './target-check-fixtures.ts';

let fakes: Fakes;
let sagemaker: Fakes['sagemaker'];
beforeAll(async () => {
  fakes = await startFakes();
  ({ sagemaker } = fakes);
});
afterAll(() => fakes.close());
beforeEach(() => {
  jest.spyOn(process.stdout, 'write').mockReturnValue(true);
  sagemaker.reset();
  sagemaker.deploy('e');
});
afterEach(() => {
  jest.restoreAllMocks();
});

const { check } = checksWith(() => fakes.deps);
const checkStructured = async (change: Partial<NewModel> = {}, endpoints = ['e']) => {
  const { structured_outputs, passed } = await check(endpoints.map((endpoint) => ({ endpoint })) as NewModel['targets'], change);
  return { structured: structured_outputs, passed };
};

interface Probe {
  response_format?: { json_schema: { schema: { properties: { v: { enum: [string] } } } } };
}
const probes = (): Probe[] => sagemaker.requests.filter((request) => (request as Probe).response_format !== undefined) as Probe[];
const isProbe = (): boolean => (sagemaker.requests.at(-1) as Probe).response_format !== undefined;
const wordOf = (): string => probes().at(-1)?.response_format?.json_schema.schema.properties.v.enum[0] ?? '';

const streams = (response: ServerResponse, delta: object, finish_reason = 'stop'): void =>
  void response.end(`data: ${JSON.stringify({ choices: [{ index: 0, delta, finish_reason }] })}\n\ndata: [DONE]\n\n`);
const answersWith = (delta: () => object, finishReason?: string): void =>
  sagemaker.answers((_request, response) => streams(response, isProbe() ? delta() : { content: 'Hi' }, finishReason));

const able = { capabilities: { structured_outputs: true } };

test('ChecksFailed says that structured outputs fail, if nothing else does', () => {
  const failed = { ...reportOf(true), structured_outputs: { works: false, detail: 'It wrote a poem.' }, passed: false };
  expect(new ChecksFailed(failed).message).toMatch(/^The check of structured outputs failed: It wrote a poem\. To save/);
});

describe('structured outputs of a container', () => {
  test('work if it answers with a word that only the JSON Schema has', async () => {
    answersWith(() => ({ content: JSON.stringify({ v: wordOf() }) }));
    expect(await checkStructured()).toEqual({
      structured: { works: true, detail: expect.stringContaining('Set capabilities.structured_outputs') },
      passed: true,
    });
    expect(await checkStructured(able)).toEqual({
      structured: { works: true, detail: "The container on 'e' followed a JSON Schema." },
      passed: true,
    });
    const words = probes().map(({ response_format: format }) => format?.json_schema.schema.properties.v.enum[0]);
    expect(new Set(words).size).toBe(2);
  });

  test('are tried without thinking', async () => {
    await checkStructured({ thinking_variable: 'thinking' });
    expect(probes()).toEqual([expect.objectContaining({ chat_template_kwargs: { thinking: false }, max_tokens: 256 })]);
  });

  test.each<[string, () => object]>([
    ['text', () => ({ content: 'Hello!' })],
    ['other JSON', () => ({ content: '{"v":"hello"}' })],
    ['null', () => ({ content: 'null' })],
  ])('don’t work if it answers with %s, and the check fails where they are declared', async (_, delta) => {
    answersWith(delta);
    const structured = { works: false, detail: expect.stringContaining("on 'e' did not follow a JSON Schema") };
    expect(await checkStructured()).toEqual({ structured, passed: true });
    expect(await checkStructured(able)).toEqual({ structured, passed: false });
  });

  test('don’t work if it rejects a JSON Schema, and its words are reported', async () => {
    sagemaker.answers((_request, response) =>
      isProbe()
        ? response.writeHead(400).end(JSON.stringify({ error: { message: 'No grammar backend.' } }))
        : streams(response, { content: 'Hi' }),
    );
    expect(await checkStructured(able)).toEqual({
      structured: { works: false, detail: expect.stringMatching(/a short chat request with a JSON Schema: No grammar backend\./) },
      passed: false,
    });
  });

  test('are unknown if its reasoning left no room for an answer', async () => {
    answersWith(() => ({ reasoning: 'Hm.' }), 'length');
    expect(await checkStructured(able)).toEqual({
      structured: { works: null, detail: expect.stringContaining('still reasoning after 256 tokens') },
      passed: true,
    });
  });

  test('are unknown if it does not answer at all', async () => {
    sagemaker.answersError(500, 'CUDA out of memory');
    expect(await checkStructured()).toEqual({
      structured: { works: null, detail: 'Skipped because an earlier check failed.' },
      passed: false,
    });
    expect(probes()).toEqual([]);
  });

  test('are not tried in a dialect that can’t send a JSON Schema', async () => {
    expect(await checkStructured({ dialect: 'transformers' })).toEqual({ structured: null, passed: true });
    expect(probes()).toEqual([]);
  });

  test('must work on every target', async () => {
    sagemaker.deploy('f');
    let isFirst = true;
    answersWith(() => {
      const content = isFirst ? JSON.stringify({ v: wordOf() }) : 'Hello!';
      isFirst = false;
      return { content };
    });
    expect(await checkStructured(able, ['e', 'f'])).toMatchObject({ structured: { works: false }, passed: false });
    expect(probes()).toHaveLength(2);
  });
});
