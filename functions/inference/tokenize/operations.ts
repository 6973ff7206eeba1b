import { operationOf } from '../../../shared/hosts/inference-routes.ts';
import type { FieldDoc } from '../../../shared/hosts/operation.ts';
import { INFERENCE_HEADERS } from '../../../shared/http/reply-headers.ts';
import { MAX_ANSWER_TOKENS } from '../../../shared/tokens/answers.ts';
import { DetokenizeReply, DetokenizeRequest, TokenizeReply, TokenizeRequest } from './schema.ts';

const model = 'qwen3-8b';
const prompt = 'This is a test';
const tokens = [1986, 374, 264, 1273];

const IS_FREE =
  'It costs nothing and asks no model, but counts as one request, and reserves tokens of the limit until it is answered. A 400 on a model that was published without its tokenizer. Properties that are not listed are accepted, have no effect, and are named in the reply header `x-sluice-ignored`.';

/** What a request for tokens has of its own. */
const fields: Readonly<Record<string, FieldDoc>> = {
  prompt: { description: 'A text. Either this or `messages`.' },
  messages: { description: 'A conversation, which is tokenized as a chat completion would give it to the model. Either this or `prompt`.' },
  tools: { description: 'The functions that the model may call. They are part of what `messages` become; without effect on a `prompt`.' },
};

export const tokenizeOperations = [
  operationOf('tokenize', {
    access: 'api_key',
    tag: 'Tokens',
    summary: 'Turn a text or messages into tokens',
    description: `The token ids that a model is given, at most ${MAX_ANSWER_TOKENS}. Null is the same as leaving a property out. A 400 on a text of more tokens, and on one that would take too long: with more than 1,024 combining marks in a row, or more than 400,000 bytes in words of more than 16,384 bytes. ${IS_FREE}`,
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
    errors: [400, 403, 404, 413, 429, 503],
  }),
  operationOf('detokenize', {
    access: 'api_key',
    tag: 'Tokens',
    summary: 'Turn tokens into text',
    description: `The text of token ids, at most as many as a reply of \`/tokenize\` has. ${IS_FREE}`,
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
    errors: [400, 403, 404, 413, 429, 503],
  }),
];
