import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { drawTimeline } from '../../../../../functions/control/observability/requests/draw-timeline.ts';
import { costOf } from '../../../../../functions/control/observability/requests/request-cost.ts';
import { requestDetail } from '../../../../../functions/control/observability/requests/request-detail.ts';
import type { UsageEvent } from '../../../../../shared/usage/event.ts';
import { anyCharacter } from '../../../../support/any-character.ts';
import { fullEvent, LOWER, PRICE, ratedAgain } from './request-fixtures.ts';

const draw = (original: UsageEvent, again: UsageEvent[] = [], symbol = '$'): string =>
  drawTimeline(requestDetail({ original, again }, costOf({ original, again }, [PRICE, LOWER])), symbol);

test('draws the phases of a request to scale, and its other facts below', () => {
  const event = fullEvent('org_1', 'key_1', { request_id: `req_1lNcTUS${'a'.repeat(18)}` });
  expect(draw(event, [ratedAgain(event)])).toMatchInlineSnapshot(`
"req_1lNcTUSaaaaaaaaaaaaaaaaaa  completed  status 200

parse        ▏                                                                                  1 ms
admit        ▏                                                                                  6 ms
fit          ▏                                                                                  1 ms
wait         ██                                                                                22 ms
invoke         ██                                                                              30 ms
first token      █                                                                             30 ms
generate          ████████████████████████████████████████████████████████████████████      1,130 ms
settle                                                                                █        14 ms
total                                                                                       1,234 ms

arrived      1973-03-05 19:25:04.244 UTC
route        /v1/chat/completions, streamed
model        qwen3-8b
target       qwen-endpoint, qwen-component, 2 tries
API key      key_1 of org_1
limits       3 of 32 in flight; 57 requests and 9,000 tokens left in the minute
usage        120 input tokens (100 cached), 40 output tokens
cost         $0.0000095 by price_1: 20 input × $0.05 + 100 cached × $0.005 + 40 output × $0.2 per
             million
             $-0.000004 by price_2 (rated again by rr_1): 20 input × $0.05 + 100 cached × $0.005 +
             40 output × $0.1 per million
             $0.0000055 in all
finished by  stop
ignored      logit_bias, speculation
trace        4bf92f3577b34da6a3ce929d0e0e4736
user         ann
metadata     {"team":"docs","depth":{"n":1}}
"
`);
});

test('names the error that the caller got', () => {
  const failed = fullEvent('org_1', 'key_1', {
    outcome: 'upstream_failed',
    error_status: 503,
    error_code: 'upstream_error',
    error_message: 'The model failed.',
    step_ends_ms: [1, 7, 8, 30, null, 1_220],
    time_to_first_token_ms: null,
  });
  expect(draw(failed)).toMatch(/^error {8}503 upstream_error The model failed\.$/m);
  expect(draw(failed)).toMatch(/^invoke .*█ +1,190 ms$/m);
});

test('no text of a caller can make a line longer than a terminal, or control the terminal', () => {
  const Text = fc.string({ unit: anyCharacter, maxLength: 300 });
  fc.assert(
    fc.property(Text, fc.dictionary(Text, Text), fc.nat(600_000), (user, metadata, duration_ms) => {
      const text = draw(fullEvent('org_1', 'key_1', { user, metadata, duration_ms }));
      for (const line of text.split('\n')) {
        expect([...line].length).toBeLessThanOrEqual(100);
        expect(line).not.toMatch(/[\p{Cc}\p{Cf}]/u);
      }
    }),
  );
  expect(draw(fullEvent('org_1', 'key_1', { user: 'a\u001b[2Jb\u202ec' }))).toContain('a\\u{1b}[2Jb\\u{202e}c');
});
