import type { PoolingReply, PoolingRoute } from '../pooling/pooling-route.ts';
import { EmbeddingsRequest, ignoredEmbeddingsFields, inputName, inputsOf, isEmbeddingsField } from './request.ts';
import { checkEmbeddings } from './support.ts';
import { teiEmbeddings } from './tei-embeddings.ts';
import { freeVectors, type Vector, writeVector } from './vector.ts';
import { vllmEmbeddings } from './vllm-embeddings.ts';

function* writeEmbeddings(
  { encoding_format }: EmbeddingsRequest,
  vectors: readonly Vector[],
  { model, promptTokens }: PoolingReply,
): Generator<string> {
  const format = encoding_format ?? 'float';
  yield '{"object":"list","data":[';
  for (const [index, vector] of vectors.entries())
    yield `${index === 0 ? '' : ','}{"object":"embedding","index":${index},"embedding":${writeVector(vector, format)}}`;
  yield `],"model":${JSON.stringify(model)},"usage":${JSON.stringify({ prompt_tokens: promptTokens, total_tokens: promptTokens })}}`;
}

/** Creates embeddings: the vectors of texts, as OpenAI's API returns them. */
export const embeddings: PoolingRoute<EmbeddingsRequest, Vector> = {
  task: 'embed',
  schema: EmbeddingsRequest,
  checkSupport: checkEmbeddings,
  ignored: ignoredEmbeddingsFields,
  isDocumented: isEmbeddingsField,
  toPrompt: (request) => ({ texts: inputsOf(request) }),
  nameOf: inputName,
  dialectOf: ({ dialect }) => (dialect === 'tei' ? teiEmbeddings : vllmEmbeddings),
  // They would take most of a payload log, and say nothing to a reader.
  logsResults: false,
  write: writeEmbeddings,
  free: freeVectors,
};
