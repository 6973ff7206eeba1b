import * as z from 'zod';
import type { OperationFacts } from '../../../shared/hosts/inference-routes.ts';
import type { FieldDoc } from '../../../shared/hosts/operation.ts';
import { IDEMPOTENCY_HEADERS, INFERENCE_HEADERS } from '../../../shared/http/reply-headers.ts';
import { MAX_DOCUMENTS, RerankRequest } from './request.ts';
import { rerank } from './route.ts';
import { MAX_RERANK_TOKENS } from './support.ts';

// The API reference documents these responses and tests check them; route.ts creates them.
const RankedDocument = z.object({
  index: z.int().meta({ description: 'The index of the document in the request.' }),
  relevance_score: z
    .number()
    .meta({ description: "How relevant the document is to the query. Higher is better; the scale is the model's." }),
  document: z.object({ text: z.string() }).optional().meta({ description: 'Only with `return_documents: true`.' }),
});

/** Documents by their relevance, the most relevant first. */
export const Ranking = z.object({
  id: z.string(),
  object: z.literal('list'),
  model: z.string(),
  results: z.array(RankedDocument).meta({ description: 'The documents by their relevance, the most relevant first.' }),
  usage: z.object({ prompt_tokens: z.int(), total_tokens: z.int().meta({ description: 'Equal to `prompt_tokens`.' }) }),
  meta: z.object({ billed_units: z.object({ total_tokens: z.int().meta({ description: 'Equal to `usage.total_tokens`.' }) }) }),
});

const request = {
  model: 'bge-reranker-v2-m3',
  query: 'What holds water back?',
  documents: ['A heron waits in the reeds.', 'A sluice is a gate that holds water back.'],
};

const requestExamples = {
  simple: { summary: 'Sort documents', value: request },
  best: { summary: 'Only the best document, with its text', value: { ...request, top_n: 1, return_documents: true } },
};

// Written by the code that writes every reply.
const example = (fields: object): unknown => {
  const reply = { requestId: 'req_8fK2mQx0ZpLw4RtYvB', model: request.model, promptTokens: 38 };
  return JSON.parse([...rerank.write({ ...request, ...fields }, [0.015625, 0.984375], reply)].join(''));
};

const fields: Readonly<Record<string, FieldDoc>> = {
  query: { description: 'The text to which the documents are compared.' },
  documents: {
    description: `Up to ${MAX_DOCUMENTS} texts, as strings or objects with \`text\`. Each must fit the context length of the model together with the query: it is never cut. All documents, each with the query, can have ${MAX_RERANK_TOKENS.toLocaleString('en')} tokens, with four bytes of text counted as one.`,
  },
  top_n: { description: 'The number of documents to return. Default: all. All documents are scored and charged.' },
  return_documents: { description: 'Whether to return the texts of the documents.', default: false },
};

const facts: OperationFacts = {
  tag: 'Embeddings',
  summary: 'Rank documents',
  description:
    "Sorts documents by their relevance to a query. All documents are scored, or the request fails and is not charged. Only tokens of the prompt are charged; the query counts once for each document. The reply has the fields of Jina's and of Cohere's API. Unknown fields are accepted, have no effect, and are listed in the `x-sluice-ignored` header. Null is the same as leaving a field out.",
  access: 'api_key',
  body: { name: 'RerankRequest', schema: RerankRequest, examples: requestExamples, fields },
  reply: {
    status: 200,
    description: 'The ranking.',
    json: {
      name: 'Ranking',
      schema: Ranking,
      examples: {
        simple: { summary: 'All documents', value: example({}) },
        best: { summary: 'Only the best document, with its text', value: example({ top_n: 1, return_documents: true }) },
      },
    },
    headers: [...INFERENCE_HEADERS, ...IDEMPOTENCY_HEADERS],
  },
  isIdempotent: true,
  waitsForCapacity: true,
  takesContent: true,
  errors: [400, 403, 404, 409, 413, 422, 429, 503],
};

/** Jina's path, and that of Cohere's second version, for the same requests. */
export const rerankOperations = {
  createRerank: facts,
  createRerankV2: { ...facts, summary: "Rank documents (the path of Cohere's API)" },
};
