import { describe, expect, test } from '@jest/globals';
import { type ChatCompletionRequest, maxTokensOf } from '../../../../functions/inference/chat/request.ts';
import { checkSupport, ignoredFields } from '../../../../functions/inference/chat/support.ts';
import { resolveMaxTokens } from '../../../../functions/inference/pipeline/prepare-request.ts';
import type { Model } from '../../../../shared/models/model.ts';
import { always, model, read, upstream } from './requests.ts';

const check = (request: ChatCompletionRequest, of: Model): void => checkSupport(request, of, resolveMaxTokens(maxTokensOf(request), of));

describe('token ids', () => {
  describe('log probabilities', () => {
    describe('fields that are listed as ignored', () => {
      describe('a field that the model does not support', () => {
        const tool = { type: 'function', function: { name: 'f' } };
        const schemaFormat = { type: 'json_schema', json_schema: { name: 'a', schema: { type: 'object' } } };
        test.each([
          ['raw_output', { raw_output: true }, {}],
          ['echo', { echo: true }, {}],
          ['tools', { tools: [tool] }, { capabilities: { tools: false } }],
          ['functions', { functions: [{ name: 'f' }] }, { capabilities: { tools: false } }],
          ['response_format', { response_format: { type: 'json_object' } }, { capabilities: { json_object: false } }],
          ['response_format', { response_format: schemaFormat }, {}],
          ['response_format', { response_format: schemaFormat }, { dialect: 'transformers', capabilities: { structured_outputs: true } }],
          ['logprobs', { logprobs: true }, { capabilities: { logprobs: false } }],
        ])('is a 400 that names the field and the model: %s', (param, body, change) => {
          expect(() => check(read(body), model(change))).toThrow(
            expect.objectContaining({ status: 400, param, message: expect.stringContaining("'m'") }),
          );
          expect(() => check(read({}), model(change))).not.toThrow();
        });

        test('says what to send instead of a JSON schema, and what an admin can do', () => {
          expect(() => check(read({ response_format: schemaFormat }), model())).toThrow(
            /tool.*your administrator.*capabilities\.structured_outputs/,
          );
        });

        test('is accepted with the capability that it needs', () => {
          const able = { capabilities: { json_object: false, structured_outputs: true } };
          expect(() => check(read({ response_format: schemaFormat }), model(able))).not.toThrow();
          expect(() => check(read({ response_format: { type: 'json_object' } }), model({}))).not.toThrow();
        });

        test('names the place of a JSON schema as the route does', () => {
          const schema = { type: 'object', not: {} };
          const request = read({ response_format: { type: 'json_schema', json_schema: { name: 'a', schema } } });
          const able = { capabilities: { structured_outputs: true } };
          const named = (param: string) => expect.objectContaining({ status: 400, param });
          expect(() => check(request, model(able))).toThrow(named('response_format.json_schema.schema.not'));
          const names = { response_format: 'text.format' };
          expect(() => checkSupport(request, model(able), 10, names)).toThrow(named('text.format.schema.not'));
          expect(() => check(request, model({ ...able, dialect: 'sluice' }))).toThrow(named('response_format.json_schema.schema.not'));
          expect(() => check(request, model({ ...able, dialect: 'llama_cpp' }))).not.toThrow();
        });

        test('is accepted if it is disabled', () => {
          const off = { raw_output: false, echo: false, tools: [], response_format: { type: 'text' }, logprobs: false };
          const none = { capabilities: { tools: false, json_object: false, logprobs: false } };
          expect(() => check(read(off), model(none))).not.toThrow();
        });

        test('are a 400 outside of the vocabulary, and are not sent without a known vocabulary', () => {
          const known = { tokenizer: { tokenizer: 'k', vocabulary_size: 100 } };
          for (const [param, body] of Object.entries({
            logit_bias: { logit_bias: { '99': 1, '100': 1 } },
            stop_token_ids: { stop_token_ids: [2 ** 53 - 1] },
            allowed_token_ids: { allowed_token_ids: [1, 100] },
          }))
            expect(() => check(read(body), model(known))).toThrow(expect.objectContaining({ status: 400, param }));
          const ids = { stop_token_ids: [99], allowed_token_ids: [5] };
          expect(() => check(read(ids), model(known))).not.toThrow();
          expect(upstream(ids, known)).toEqual({ ...always, ...ids });
          expect(upstream(ids)).toEqual(always);
          expect(ignoredFields(read(ids), model())).toEqual(Object.keys(ids));
        });

        test('are a 400 that suggests streaming if a response without it can’t hold them', () => {
          const many = { logprobs: true, top_logprobs: 20, n: 16, max_tokens: 2_048 };
          const large = { max_output_tokens: 4_096 };
          expect(() => check(read(many), model(large))).toThrow(expect.objectContaining({ status: 400, param: 'logprobs' }));
          const { max_tokens: max_completion_tokens, ...others } = many;
          expect(() => check(read({ ...others, max_completion_tokens }), model(large))).toThrow(
            '(n × max_completion_tokens × (top_logprobs + 1))',
          );
          expect(() => check(read({ ...many, stream: true }), model(large))).not.toThrow();
          expect(() => check(read({ ...many, n: 1 }), model(large))).not.toThrow();
        });

        test('are those that have no effect without tools', () => {
          const alone = { tool_choice: 'none', parallel_tool_calls: false };
          expect(ignoredFields(read(alone), model())).toEqual(Object.keys(alone));
          expect(ignoredFields(read({ ...alone, tools: [tool] }), model())).toEqual([]);
        });

        test('include options of a stream that other servers have', () => {
          const stream_options = { include_usage: true, include_obfuscation: false, continuous_usage_stats: null };
          expect(ignoredFields(read({ stream: true, stream_options }), model())).toEqual(['stream_options.include_obfuscation']);
          expect(ignoredFields(read({ stream: true, stream_options: { include_usage: false } }), model())).toEqual([]);
        });

        test('include prompt_truncate_len for a model without a tokenizer', () => {
          expect(ignoredFields(read({ prompt_truncate_len: 5 }), model())).toEqual(['prompt_truncate_len']);
          expect(ignoredFields(read({ prompt_truncate_len: 5 }), model({ tokenizer: { tokenizer: 'k' } }))).toEqual([]);
        });
      });
    });
  });
});
