import { inferenceHostRoutes, type OperationsById } from '../../../shared/hosts/inference-routes.ts';
import type { FieldDoc } from '../../../shared/hosts/operation.ts';
import { INFERENCE_HEADERS } from '../../../shared/http/reply-headers.ts';
import { MAX_ANSWER_TOKENS } from '../../../shared/tokens/answers.ts';
import { DetokenizeReply, DetokenizeRequest, TokenizeReply, TokenizeRequest } from './schema.ts';

const model = 'qwen3-8b';
const prompt = 'This is a test';
const tokens = [1986, 374, 264, 1273];

const IS_FREE =
  'It is free and does not invoke the model, but it counts as one request, and reserves tokens of the limit until the response is sent. Returns 400 if the model was published without its tokenizer. Unknown fields are accepted, have no effect, and are listed in the `x-sluice-ignored` header.';

// These mean something else in other requests.
const fields: Readonly<Record<string, FieldDoc>> = {
  prompt: { description: 'The text to tokenize. Send either this or `messages`.' },
  messages: { description: 'The messages to tokenize, rendered as for a chat completion. Send either this or `prompt`.' },
  tools: { description: 'The functions that the model can call. They are rendered with `messages`, and have no effect on a `prompt`.' },
};

export const tokenizeOperations = {
  tokenize: {
    access: 'api_key',
    tag: 'Tokens',
    summary: 'Convert a text or messages to tokens',
    description: `Returns the token ids that a model would receive. Null is the same as leaving a field out. Returns 400 if there are more than ${MAX_ANSWER_TOKENS} tokens, or if tokenization would take too long: with more than 1,024 combining marks in a row, or more than 400,000 bytes in words of more than 16,384 bytes. ${IS_FREE}`,
    body: {
      name: 'TokenizeRequest',
      schema: TokenizeRequest,
      examples: {
        prompt: { summary: 'A text', value: { model, prompt, return_token_strs: true } },
        messages: {
          summary: 'Messages, as a chat completion counts them',
          value: { model, messages: [{ role: 'user', content: 'What is a sluice?' }] },
        },
      },
      fields,
    },
    reply: {
      status: 200,
      description: 'The tokens.',
      json: {
        name: 'TokenizeReply',
        schema: TokenizeReply,
        examples: {
          tokens: {
            summary: 'The tokens of a text',
            value: { count: tokens.length, max_model_len: 32_768, tokens, token_strs: ['This', 'Ġis', 'Ġa', 'Ġtest'] },
          },
        },
      },
      headers: INFERENCE_HEADERS,
    },
    takesContent: true,
    errors: [400, 403, 404, 413, 429, 503],
  },
  detokenize: {
    access: 'api_key',
    tag: 'Tokens',
    summary: 'Convert tokens to text',
    description: `Returns the text of token ids, at most as many as a response of \`${inferenceHostRoutes.tokenize.path}\` can have. ${IS_FREE}`,
    body: {
      name: 'DetokenizeRequest',
      schema: DetokenizeRequest,
      examples: { tokens: { summary: 'Four tokens', value: { model, tokens } } },
    },
    reply: {
      status: 200,
      description: 'The text.',
      json: {
        name: 'DetokenizeReply',
        schema: DetokenizeReply,
        examples: { text: { summary: 'Their text', value: { prompt } } },
      },
      headers: INFERENCE_HEADERS,
    },
    takesContent: true,
    errors: [400, 403, 404, 413, 429, 503],
  },
} as const satisfies OperationsById;
