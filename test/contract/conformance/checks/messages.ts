import { chatFields } from '../../../../functions/inference/chat/request.ts';
import type { Body } from '../ask.ts';
import { BASE, type Check, reply } from '../check.ts';
import type { Reply } from '../reply.ts';
import { accepted, fails, type Verdict, works } from '../verdict.ts';

const question = { role: 'user', content: 'How high is the water in Hamburg?' };
const then = { role: 'user', content: 'Is that high?' };
const answer = { role: 'assistant', content: 'It is 2.1 metres.' };
const call = (text: string) => ({ id: 'call_1', type: 'function', function: { name: 'water_level', arguments: text } });
const calling = (text: string) => ({ role: 'assistant', content: null, tool_calls: [call(text)] });
const result = { role: 'tool', tool_call_id: 'call_1', content: '{"metres":2.1}' };
const legacyCalling = { role: 'assistant', content: null, function_call: call('{"place":"Hamburg"}').function };
const legacyResult = { role: 'function', name: 'water_level', content: '{"metres":2.1}' };

// The addition in the second request must reach the prompt.
const isInPrompt = (replies: readonly Reply[]): Verdict => {
  const [without, beside] = [reply(replies, 0).promptTokens, reply(replies, 1).promptTokens];
  if (beside > without) return works;
  return beside === without ? accepted : fails('this made the prompt shorter');
};

const isSamePrompt = (replies: readonly Reply[]): Verdict => {
  const [string, parts] = [reply(replies, 0), reply(replies, 1)];
  if (!parts.hasUsage) return accepted;
  return string.promptTokens === parts.promptTokens ? works : fails('the prompt differs from the prompt of one string');
};

const inPrompt = (variant: string, without: readonly object[], beside: readonly object[], kind?: Check['kind']): Check => ({
  field: 'messages',
  variant,
  ...(kind && { kind }),
  bodies: () => [{ messages: without }, { messages: beside }],
  judge: isInPrompt,
});

const parts = ['How high is the water', 'in Hamburg?'].map((text) => ({ type: 'text', text }));

const EVERYTHING_NULL: Body = Object.fromEntries(
  chatFields.filter((field) => !['model', 'messages'].includes(field)).map((field) => [field, null]),
);

/** Interface 2.2: checks of the messages of a conversation. */
export const messageChecks: readonly Check[] = [
  {
    field: 'messages',
    bodies: () => [{}],
    judge: (replies) => (reply(replies, 0).text === '' ? fails('the answer is empty') : works),
  },
  inPrompt('system role', [question], [{ role: 'system', content: 'Be brief.' }, question]),
  inPrompt('developer role', [question], [{ role: 'developer', content: 'Be brief.' }, question]),
  {
    field: 'messages',
    variant: 'text parts',
    bodies: () => [
      { messages: [{ ...question, content: parts.map(({ text }) => text).join('\n') }] },
      { messages: [{ ...question, content: parts }] },
    ],
    judge: isSamePrompt,
  },
  inPrompt('tool calls and their results', [question, answer, then], [question, calling('{"place":"Hamburg"}'), result, answer, then]),
  inPrompt('broken tool arguments', [question, answer, then], [question, calling('{"place":"Ham'), result, answer, then]),
  inPrompt('function_call and function role', [question, answer, then], [question, legacyCalling, legacyResult, answer, then]),
  inPrompt(
    'reasoning in the history',
    [question, answer, then],
    [question, { ...answer, reasoning_content: 'The gauge says 2.1.' }, then],
    'thinking',
  ),
  {
    field: 'messages',
    variant: 'every other field null',
    bodies: () => [{ ...EVERYTHING_NULL, messages: BASE.messages }],
    judge: (replies) => (reply(replies, 0).completionTokens > 0 ? works : fails('the answer is empty')),
  },
];
