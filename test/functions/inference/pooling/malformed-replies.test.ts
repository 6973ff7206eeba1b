import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import * as z from 'zod';
import { teiEmbeddings } from '../../../../functions/inference/embeddings/tei-embeddings.ts';
import { writeVector } from '../../../../functions/inference/embeddings/vector.ts';
import { vllmEmbeddings } from '../../../../functions/inference/embeddings/vllm-embeddings.ts';
import type { PoolingDialect, PoolingRequest } from '../../../../functions/inference/pooling/pooling-route.ts';
import { UnusableReply } from '../../../../functions/inference/pooling/unusable-reply.ts';
import { teiRerank } from '../../../../functions/inference/rerank/tei-rerank.ts';
import { vllmRerank } from '../../../../functions/inference/rerank/vllm-rerank.ts';
import type { Model } from '../../../../shared/models/model.ts';
import { sized } from '../../../support/sized.ts';
import { malformed, toJson } from '../malformed-json.ts';

const model = { embedding: { dimensions: 2 } } as Model;
const call = { texts: ['a', 'b', 'c'], from: 0, containerModel: '', cacheSalt: '', requestId: 'req_1' };
const usage = { prompt_tokens: 9, total_tokens: 9 };
const base64 = JSON.parse(writeVector(Float32Array.of(0.5, 1), 'base64')) as string;

const Vectors = z.array(z.instanceof(Float32Array).refine((vector) => vector.length === 2 && vector.every(Number.isFinite))).length(3);
const Scores = z.array(z.number()).length(3);
const Count = z.int().nonnegative().optional();

type Check = (reply: unknown) => 'read' | 'unusable';

const reads =
  <Request extends PoolingRequest, Result>({ read }: PoolingDialect<Request, Result>, Results: z.ZodType): Check =>
  (reply) => {
    try {
      const { results, promptTokens } = read(Buffer.from(toJson(reply)), {} as Request, model, call);
      Results.parse([...results]);
      Count.parse(promptTokens);
      return 'read';
    } catch (error) {
      expect(error).toBeInstanceOf(UnusableReply);
      return 'unusable';
    }
  };

test.each<[string, unknown, Check]>([
  [
    'vectors of vLLM',
    { data: [2, 0, 1].map((index) => ({ index, object: 'embedding', embedding: base64 })), usage },
    reads(vllmEmbeddings, Vectors),
  ],
  [
    'vectors of vLLM as numbers',
    { data: [0, 1, 2].map((index) => ({ index, embedding: [1, -0.5] })), usage },
    reads(vllmEmbeddings, Vectors),
  ],
  ['vectors of Text Embeddings Inference', Array(3).fill([1, -0.5]), reads(teiEmbeddings, Vectors)],
  ['scores of vLLM', { results: [1, 2, 0].map((index) => ({ index, relevance_score: 0.5 })), usage }, reads(vllmRerank, Scores)],
  ['scores of Text Embeddings Inference', [1, 2, 0].map((index) => ({ index, score: 0.5 })), reads(teiRerank, Scores)],
])('%s with any value in any place are whole, or a 503 and never our own error', (_, reply, check) => {
  expect(check(reply)).toBe('read');
  fc.assert(
    fc.property(malformed(reply), (changed) => void check(changed)),
    { numRuns: sized(200, 5_000) },
  );
});
