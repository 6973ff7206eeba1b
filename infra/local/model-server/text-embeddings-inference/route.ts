import * as z from 'zod';
import type { Exchange, ServingContext } from '../replies/answering.ts';
import { sendPooled } from '../replies/pooled-reply.ts';
import { sendBody } from '../replies/reply.ts';
import { BadRequest } from '../requests/errors.ts';
import { Integer } from '../requests/fields.ts';
import { type EncodedText, encodeInput, encodePair } from '../vectors/encoder-prompt.ts';
import { sigmoid } from '../vectors/vectors.ts';
import { TextEmbeddingsError } from './errors.ts';

// Its options `--max-client-batch-size` and `--payload-limit` change these.
const MAX_BATCH_SIZE = 32;
const MAX_BODY_BYTES = 2_000_000;

// Its default truncates nothing.
const truncation = { truncate: z.boolean().nullish() };

const EmbedBody = z.looseObject({
  ...truncation,
  inputs: z.union([z.string(), z.array(z.union([z.string(), z.array(Integer)]))]),
  normalize: z.boolean().default(true),
  dimensions: Integer.min(1).nullish(),
});
const RerankBody = z.looseObject({
  ...truncation,
  query: z.string(),
  texts: z.array(z.string()),
  raw_scores: z.boolean().default(false),
  return_text: z.boolean().default(false),
});

type Reply = (context: ServingContext, body: string, exchange: Exchange) => Promise<void>;

/**
 * Answers as a container of Text Embeddings Inference with an embedding model does at `/invocations`.
 * https://huggingface.github.io/text-embeddings-inference/
 */
export const replyToTextEmbeddings: Reply = (context, body, exchange) =>
  replyOrReject(exchange, () => {
    const { inputs, truncate, dimensions } = parse(EmbedBody, body);
    const batch = typeof inputs === 'string' ? [inputs] : inputs;
    assertBatch(batch.length, 'inputs');
    const encoded = batch.map((input) => encode(() => encodeInput(input, encoderOptions(context, truncate))));
    return { reply: encoded.map(({ text }) => [...context.vectors.embed(text, dimensions ?? undefined)]), encoded };
  });

/** Answers as one with a reranking model does at `/invocations`. */
export const replyToTextRerank: Reply = (context, body, exchange) =>
  replyOrReject(exchange, () => {
    const { query, texts, truncate, raw_scores: isRaw, return_text: returnsText } = parse(RerankBody, body);
    assertBatch(texts.length, 'texts');
    const encoded = texts.map((text) => encode(() => encodePair(query, text, encoderOptions(context, truncate))));
    const relevance = context.vectors.relevance(query);
    const reply = encoded
      .map(({ text }, index) => {
        const logit = relevance(text);
        return { index, ...(returnsText && { text: texts[index] }), score: isRaw ? logit : sigmoid(logit) };
      })
      .sort((a, b) => b.score - a.score || a.index - b.index);
    return { reply, encoded };
  });

const encoderOptions = ({ tokenizer, limits }: ServingContext, truncate: boolean | null | undefined) => ({
  tokenizer,
  windowTokens: limits.windowTokens,
  truncateTo: truncate ? -1 : undefined,
});

/** Answers as a container with the model that a request needs: that of a local deployment has both. */
export const replyToAnyText: Reply = (context, body, exchange) =>
  /"texts"\s*:/.test(body) ? replyToTextRerank(context, body, exchange) : replyToTextEmbeddings(context, body, exchange);

// A header counts the tokens. SageMaker does not pass it on.
const replyOrReject = async (exchange: Exchange, read: () => { reply: object; encoded: readonly EncodedText[] }): Promise<void> => {
  try {
    const { reply, encoded } = read();
    exchange.response.setHeader(
      'x-compute-tokens',
      encoded.reduce((sum, { tokenCount }) => sum + tokenCount, 0),
    );
    await sendPooled(exchange, reply);
  } catch (error) {
    if (!(error instanceof TextEmbeddingsError)) throw error;
    sendBody(exchange.response, error.status, error.body);
  }
};

const parse = <Schema extends z.ZodType>(schema: Schema, body: string): z.output<Schema> => {
  if (Buffer.byteLength(body) > MAX_BODY_BYTES) throw new TextEmbeddingsError('Validation', 'length limit exceeded');
  try {
    return schema.parse(JSON.parse(body));
  } catch (error) {
    throw new TextEmbeddingsError('Tokenizer', `Failed to deserialize the JSON body: ${error instanceof Error ? error.message : error}`);
  }
};

const assertBatch = (size: number, field: string): void => {
  if (size === 0) throw new TextEmbeddingsError('Empty', `\`${field}\` cannot be empty`);
  if (size > MAX_BATCH_SIZE) {
    throw new TextEmbeddingsError('Validation', `batch size ${size} > maximum allowed batch size ${MAX_BATCH_SIZE}`);
  }
};

const encode = (read: () => EncodedText): EncodedText => {
  try {
    return read();
  } catch (error) {
    if (error instanceof BadRequest) throw new TextEmbeddingsError('Validation', `Input validation error: ${error.message}`);
    throw error;
  }
};
