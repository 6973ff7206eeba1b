import * as z from 'zod';
import type { OperationFacts } from '../../../shared/hosts/inference-routes.ts';
import type { FieldDoc } from '../../../shared/hosts/operation.ts';
import { IDEMPOTENCY_HEADERS, INFERENCE_HEADERS } from '../../../shared/http/reply-headers.ts';
import { EmbeddingsRequest, MAX_INPUTS } from './request.ts';
import { embeddings } from './route.ts';
import { MAX_REQUEST_TOKENS } from './support.ts';

// The API reference documents these responses and tests check them; route.ts creates them.
const Embedding = z.object({
  object: z.literal('embedding'),
  index: z.int().meta({ description: 'The index of the input.' }),
  embedding: z.union([z.array(z.number()), z.string()]).meta({
    description: 'The vector: a list of numbers, or with `encoding_format: "base64"` the base64 of its little-endian 32-bit floats.',
  }),
});

const EmbeddingsUsage = z.object({ prompt_tokens: z.int(), total_tokens: z.int().meta({ description: 'Equal to `prompt_tokens`.' }) });

const EmbeddingList = z.object({
  object: z.literal('list'),
  data: z.array(Embedding),
  model: z.string(),
  usage: EmbeddingsUsage,
});

const model = 'bge-m3';
const input = ['A sluice is a gate that holds water back.', 'A weir lets water pass over it.'];

const requestExamples = {
  one: { summary: 'One text', value: { model, input: input[0] } },
  several: { summary: 'Several texts, as base64', value: { model, input, encoding_format: 'base64' } },
  token_ids: { summary: 'Token ids instead of text', value: { model, input: [1986, 374, 264] } },
};

// Written by the code that writes every reply.
const example = (encoding_format: 'float' | 'base64'): unknown => {
  const vectors = [Float32Array.of(0.5, -0.25, 0.125, 0.75), Float32Array.of(0.25, 0.5, -0.75, 0.125)];
  const reply = { requestId: '', model, promptTokens: 19 };
  return JSON.parse([...embeddings.write({ model, input, encoding_format }, vectors, reply)].join(''));
};

const fields: Readonly<Record<string, FieldDoc>> = {
  input: {
    description: `The texts to embed: a string, a list of token ids, or up to ${MAX_INPUTS} of either. An input must not be empty, and must fit the context length of the model: it is never cut. All inputs together can have ${MAX_REQUEST_TOKENS.toLocaleString('en-US')} tokens, with four bytes of text counted as one. Token ids must be of the model's own vocabulary, and return 400 if the model was published without its tokenizer.`,
  },
};

export const embeddingsOperation: OperationFacts = {
  tag: 'Embeddings',
  summary: 'Create embeddings',
  description:
    'Returns a vector for each input, in the order of the inputs. All inputs are embedded, or the request fails and is not charged. Only tokens of the prompt are charged. There is no streaming. Unknown fields are accepted, have no effect, and are listed in the `x-sluice-ignored` header. Null is the same as leaving a field out. A reply that is too large to be stored is not replayed for an idempotency key, and has the header `x-sluice-idempotency: not-stored`.',
  access: 'api_key',
  body: { name: 'EmbeddingsRequest', schema: EmbeddingsRequest, examples: requestExamples, fields },
  reply: {
    status: 200,
    description: 'The embeddings.',
    json: {
      name: 'EmbeddingList',
      schema: EmbeddingList,
      examples: {
        float: { summary: 'As numbers', value: example('float') },
        base64: { summary: 'As base64', value: example('base64') },
      },
    },
    headers: [...INFERENCE_HEADERS, ...IDEMPOTENCY_HEADERS],
  },
  isIdempotent: true,
  waitsForCapacity: true,
  takesContent: true,
  errors: [400, 403, 404, 409, 413, 422, 429, 503],
};
