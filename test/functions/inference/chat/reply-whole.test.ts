import { describe, expect, test } from '@jest/globals';
import { createChatCompletion } from '../../../../functions/inference/chat/reply-whole.ts';
import { facts, plain, replyUsage, text, usage, whole } from './replies.ts';

describe('a response without streaming', () => {
  test('has every key of the interface and of OpenAI’s schema, null without a value, and no calls', () => {
    expect(whole(text)).toEqual({
      id: 'chatcmpl-1',
      object: 'chat.completion',
      created: 1_700_000_000,
      model: 'a "model"',
      choices: [
        {
          index: 0,
          message: {
            role: 'assistant',
            content: 'Hello\n"',
            refusal: null,
            annotations: [],
            audio: null,
            reasoning: null,
          },
          logprobs: null,
          finish_reason: 'length',
          stop_reason: null,
          raw_output: null,
          token_ids: null,
        },
      ],
      usage: replyUsage,
      service_tier: null,
      perf_metrics: null,
      prompt_token_ids: null,
    });
  });

  test('leaves out usage details that a runtime doesn’t report, and never has them as null', () => {
    const reply = createChatCompletion(facts, plain);
    reply.take(text);
    const none = { prompt_tokens_details: null, completion_tokens_details: null };
    expect(JSON.parse(JSON.stringify(reply.whole({ ...usage, ...none }).usage))).toEqual(replyUsage);
    expect(reply.whole(usage).usage).not.toHaveProperty('prompt_tokens_details');
  });

  test('passes on the usage details of a runtime', () => {
    const reply = createChatCompletion(facts, plain);
    reply.take(text);
    const details = { prompt_tokens_details: { cached_tokens: 3 }, completion_tokens_details: { reasoning_tokens: 1 } };
    expect(reply.whole({ ...usage, ...details }).usage).toEqual({ ...replyUsage, ...details });
  });
});
