import { afterAll, beforeAll, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { embeddings } from '../../../../functions/inference/embeddings/route.ts';
import { inferenceHostRoutes } from '../../../../shared/hosts/inference-routes.ts';
import { bodyOf, repliesWith, startPooling, vectorOf } from './fixtures.ts';

interface SentBody {
  inputs: (string | number[])[];
  dimensions?: number;
}

const answers = repliesWith(({ inputs, dimensions }: SentBody) => inputs.map((text) => vectorOf(text, dimensions)));
const count = async ({ texts }: { texts: string[] }) => ({ prompt_tokens: null, text_tokens: texts.map(() => 5), special_tokens: 2 });
const tokenizer = { count } as never;

const models = {
  t: {
    task: 'embed',
    dialect: 'tei',
    embedding: { dimensions: 4, is_shortenable: true },
    tokenizer: { tokenizer: 'k', vocabulary_size: 100 },
  },
} as const;

let route: Awaited<ReturnType<typeof start>>;
const start = () => startPooling(inferenceHostRoutes.createEmbeddings.path, embeddings, models, 't');
beforeAll(async () => {
  route = await start();
});
afterAll(() => route.close());
beforeEach(() => {
  jest.spyOn(process.stdout, 'write').mockReturnValue(true);
});

describe('embeddings of Text Embeddings Inference', () => {
  test('are requested in batches of 32, and charged by the tokenizer’s counts', async () => {
    const { call, sent, events } = await route.setUp(answers, { tokenizer });
    const input = Array.from({ length: 40 }, (_, place) => 'a'.repeat(place + 1));
    const { data, usage } = (await bodyOf(await call({ input }))) as { data: { embedding: number[] }[]; usage: object };
    expect(data.map(({ embedding }) => embedding)).toEqual(input.map((text) => vectorOf(text)));
    expect(sent).toEqual([
      { inputs: input.slice(0, 32), normalize: true, truncate: false },
      { inputs: input.slice(32), normalize: true, truncate: false },
    ]);
    expect(usage).toEqual({ prompt_tokens: 280, total_tokens: 280 });
    expect(await events()).toMatchObject([{ prompt_tokens: 280, completion_tokens: 0, outcome: 'completed' }]);
  });

  test('can be shortened, and take token ids', async () => {
    const { call, sent } = await route.setUp(answers, { tokenizer });
    expect(await bodyOf(await call({ input: [[1, 2, 3]], dimensions: 2 }))).toMatchObject({
      data: [{ embedding: vectorOf([1, 2, 3], 2) }],
      usage: { prompt_tokens: 3 },
    });
    expect(sent).toEqual([{ inputs: [[1, 2, 3]], normalize: true, truncate: false, dimensions: 2 }]);
  });

  test.each([
    ['too few', [[1, 2, 3, 4]]],
    ['too short', [[1], [2]]],
    ['no vectors', { error: 'x' }],
  ])('are a failure of the model if they are %s', async (_, reply) => {
    const { call, events } = await route.setUp(
      repliesWith(() => reply),
      { tokenizer },
    );
    await expect(call({ input: ['a', 'b'] })).rejects.toMatchObject({ status: 503, code: 'upstream_error' });
    expect(await events()).toMatchObject([{ prompt_tokens: 0, cost_nanos: 0n }]);
  });
});
