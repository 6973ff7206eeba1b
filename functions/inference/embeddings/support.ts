import { InvalidRequest, InvalidValue } from '../../../shared/http/errors.ts';
import type { Model } from '../../../shared/models/model.ts';
import { UnsupportedByModel } from '../chat/unsupported-by-model.ts';
import { estimateTokens, textBytes } from '../pipeline/prompt-size.ts';
import { TextTooLong } from '../pooling/fit-texts.ts';
import { dimensionsOf } from './dimensions-of.ts';
import { type EmbeddingsRequest, inputName, inputsOf } from './request.ts';
import { MAX_VECTORS_BYTES } from './vector.ts';

/** The tokens of a request, where four bytes of text count as one. */
export const MAX_REQUEST_TOKENS = 300_000;

const SEND_TEXT =
  'Send text instead of token ids: in LangChain, set check_embedding_ctx_length=False; in LlamaIndex, use OpenAILikeEmbedding.';

// Token ids of another model's vocabulary, or of any if the model's own isn't known: 400.
class TokenIdsRefused extends InvalidRequest {
  constructor(param: string, fault: string) {
    super({ param, message: `${fault} ${SEND_TEXT}` });
  }
}

// An invalid id can crash a runtime.
const checkTokens = (ids: readonly number[], param: string, { name, tokenizer, context_length }: Model): void => {
  const size = tokenizer?.vocabulary_size;
  if (size === undefined) throw new TokenIdsRefused(param, `The model '${name.slice(0, 60)}' takes no token ids.`);
  const wrong = ids.find((id) => id >= size);
  if (wrong !== undefined) throw new TokenIdsRefused(param, `'${param}': ${wrong} is no token id of this model (0 to ${size - 1}).`);
  if (ids.length > context_length) throw new TextTooLong(param, ids.length, context_length);
};

const checkDimensions = ({ dimensions }: EmbeddingsRequest, { name, embedding }: Model): void => {
  if (dimensions == null || dimensions === embedding?.dimensions) return;
  if (!embedding?.is_shortenable) throw new UnsupportedByModel('dimensions', name);
  if (dimensions > embedding.dimensions)
    throw new InvalidValue(
      'dimensions',
      `this model's vectors have ${embedding.dimensions} dimensions. Send ${embedding.dimensions} or less`,
    );
};

// 400: the vectors of a request are larger than the memory of the function. `maxVectors`: the most of a request.
class VectorsTooLarge extends InvalidRequest {
  constructor(inputs: number, dimensions: number, maxVectors: number) {
    super({
      param: 'input',
      code: 'vectors_too_large',
      message: `A request can have ${maxVectors} vectors of ${dimensions} dimensions, and this one has ${inputs} inputs. Split it into several requests.`,
    });
  }
}

/** @throws VectorsTooLarge @param maxBytes of all vectors of a request */
export const checkVectors = (inputs: number, dimensions: number, maxBytes: number): void => {
  const maxVectors = Math.floor(maxBytes / (dimensions * Float32Array.BYTES_PER_ELEMENT));
  if (inputs > maxVectors) throw new VectorsTooLarge(inputs, dimensions, maxVectors);
};

/** Rejects a request for something the model does not support, and one that is too large. @throws 400 */
export const checkEmbeddings = (request: EmbeddingsRequest, model: Model): void => {
  checkDimensions(request, model);
  const inputs = inputsOf(request);
  const dimensions = dimensionsOf(request, model);
  checkVectors(inputs.length, dimensions, MAX_VECTORS_BYTES);
  let tokens = 0;
  inputs.forEach((input, index) => {
    tokens += estimateTokens(textBytes(input));
    if (typeof input !== 'string') checkTokens(input, inputName(request, index), model);
  });
  if (tokens > MAX_REQUEST_TOKENS)
    throw new InvalidRequest({
      param: 'input',
      code: 'too_many_tokens',
      message: `The inputs of a request can have ${MAX_REQUEST_TOKENS} tokens in total, and these have about ${tokens}. Split them into several requests.`,
    });
};
