import { describe, expect, test } from '@jest/globals';
import { callOf, chunkOf, ended, stream, whole } from './replies.ts';

const call = callOf(0, '{"x":1}', { id: 'a', name: 'f' });
const text = chunkOf({ content: 'A' });

const stopsOf = (chunks: Parameters<typeof whole>[0], endsAtWindow = false) => {
  const given = { facts: { endsAtWindow: () => endsAtWindow } };
  const { stop_reason, stop_sequence } = whole(chunks, given);
  expect(stream([[...chunks]], given).at(-2)?.delta).toEqual({ stop_reason, stop_sequence });
  return [stop_reason, stop_sequence];
};

describe('a stop reason', () => {
  test.each([
    ['end_turn', null, 'an answer that the model ended', [text, ended('stop')]],
    ['end_turn', null, 'a stop token', [text, ended('stop', { stop_reason: 151_645 })]],
    ['end_turn', null, 'an unknown reason', [text, ended('eos')]],
    ['end_turn', null, 'an answer without a reason', [text]],
    ['stop_sequence', '\n\nHuman:', 'a stop sequence (bug 5)', [text, ended('stop', { stop_reason: '\n\nHuman:' })]],
    ['max_tokens', null, 'an answer that was cut', [text, ended('length')]],
    ['max_tokens', null, 'a call that was cut', [call, ended('length')]],
    ['refusal', null, 'filtered content', [text, ended('content_filter')]],
    ['tool_use', null, 'calls', [call, ended('tool_calls')]],
    ['tool_use', null, 'a call that the request forced, after thinking (bug 38)', [chunkOf({ reasoning: 'Hm' }), call, ended('stop')]],
    ['end_turn', null, 'calls that the answer has not (bug 26)', [text, ended('tool_calls')]],
    ['end_turn', null, 'a call without a name (bug 26)', [callOf(0, '{}'), ended('tool_calls')]],
  ])('is %s with the sequence %p for %s', (reason, sequence, _, chunks) => {
    expect(stopsOf(chunks)).toEqual([reason, sequence]);
  });

  test('says that the context window is full if that limited the answer', () => {
    expect(stopsOf([text, ended('length')], true)).toEqual(['model_context_window_exceeded', null]);
    expect(stopsOf([text, ended('stop')], true)).toEqual(['end_turn', null]);
  });
});
