import type { Difference } from './compare.ts';

/** A request that both servers get, whole and streamed, and why their replies may differ. */
export interface Case {
  label: string;
  body: Record<string, unknown>;
  /** By the part of the reply that differs. */
  reasons?: Partial<Record<Difference['part'], string>>;
}

const user = (...content: object[]): object => ({ role: 'user', content });
const assistant = (...content: object[]): object => ({ role: 'assistant', content });
const text = (value: string): object => ({ type: 'text', text: value });
const use = (id: string, input: unknown = { place: 'Delft' }): object => ({ type: 'tool_use', id, name: 'get_weather', input });
const result = (id: string, fields: object = { content: 'Rain.' }): object => ({ type: 'tool_result', tool_use_id: id, ...fields });

const weather = {
  name: 'get_weather',
  description: 'The weather of a place.',
  input_schema: { type: 'object', properties: { place: { type: 'string' } }, required: ['place'], additionalProperties: false },
};
const question = [user(text('Tell me about harbours.'))];
const needsTool = [user(text('Use get_weather for Delft.'))];
const after = (...content: object[]): object[] => [...needsTool, assistant(use('toolu_1')), user(...content)];

const otherPrompt = (reason: string): NonNullable<Case['reasons']> => ({
  text: reason,
  thinking: reason,
  calls: reason,
  blocks: reason,
  'stop reason': reason,
  'prompt tokens': reason,
  'output tokens': reason,
});
const otherAnswer = (reason: string): NonNullable<Case['reasons']> => ({
  ...otherPrompt(reason),
  status: reason,
  error: reason,
  id: reason,
  'usage keys': reason,
  events: reason,
});

const FORCED =
  'vLLM enforces the schema of a forced call only if its tool is strict, and fails if its arguments are no JSON; Sluice makes it strict.';

/** The requests. Each is sent with `temperature: 0`, so that two runs of a model give the same answer. */
export const cases: readonly Case[] = [
  { label: 'a text', body: { messages: [{ role: 'user', content: 'Tell me about harbours.' }] } },
  { label: 'blocks of text', body: { messages: question } },
  {
    label: 'two blocks of text',
    body: { messages: [user(text('Tell me about harbours.'), text('Be brief.'))] },
    reasons: otherPrompt('vLLM gives the template two parts, Sluice one text with a line break.'),
  },
  { label: 'a system prompt', body: { system: 'Be brief.', messages: question } },
  {
    label: 'blocks of a system prompt',
    body: { system: [text('Be brief.'), text('Be kind.')], messages: question },
    reasons: otherPrompt('vLLM joins system blocks without a separator.'),
  },
  {
    label: 'a billing line of Claude Code',
    body: { system: [text('x-anthropic-billing-header: cc_version=2; cch=1;'), text('Be brief.')], messages: question },
  },
  {
    label: 'a system message in the middle',
    body: { messages: [...question, assistant(text('They are ports.')), { role: 'system', content: 'Be brief.' }, ...question] },
    reasons: otherPrompt('Older vLLM moves system messages to the head; Sluice and newer vLLM fold them into a neighbour.'),
  },
  { label: 'max_tokens', body: { messages: question, max_tokens: 3 } },
  {
    label: 'a stop sequence',
    body: { messages: question, stop_sequences: ['e'] },
    reasons: { 'stop reason': 'vLLM reports every stop as end_turn.', 'stop sequence': 'vLLM never names the stop sequence.' },
  },
  { label: 'thinking', body: { messages: question, thinking: { type: 'adaptive' } } },
  { label: 'a tool', body: { messages: needsTool, tools: [weather] } },
  {
    label: 'tool_choice any',
    body: { messages: needsTool, tools: [weather], tool_choice: { type: 'any' } },
    reasons: otherAnswer(FORCED),
  },
  {
    label: 'tool_choice with a name',
    body: { messages: needsTool, tools: [weather], tool_choice: { type: 'tool', name: 'get_weather' } },
    reasons: { ...otherAnswer(FORCED), 'stop reason': 'vLLM reports end_turn after a call that was forced by name.' },
  },
  { label: 'tool_choice none', body: { messages: needsTool, tools: [weather], tool_choice: { type: 'none' } } },
  {
    label: 'one call at a time',
    body: { messages: needsTool, tools: [weather], tool_choice: { type: 'auto', disable_parallel_tool_use: true } },
    reasons: { calls: 'vLLM ignores disable_parallel_tool_use.' },
  },
  { label: 'a result of a tool', body: { messages: after(result('toolu_1')), tools: [weather] } },
  { label: 'a result and a text', body: { messages: after(result('toolu_1'), text('And now?')), tools: [weather] } },
  { label: 'a result without content', body: { messages: after(result('toolu_1', {})), tools: [weather] } },
  {
    label: 'a failed result',
    body: { messages: after(result('toolu_1', { content: 'No network.', is_error: true })), tools: [weather] },
    reasons: otherPrompt('vLLM does not tell the model that the tool failed.'),
  },
  {
    label: 'a result without its call',
    body: { messages: [...question, user(result('toolu_9'))], tools: [weather] },
    reasons: otherAnswer('vLLM sends a result without its call to the model; Sluice returns 400.'),
  },
  {
    label: 'a call without its result',
    body: { messages: [...needsTool, assistant(use('toolu_1')), user(text('And now?'))], tools: [weather] },
    reasons: otherAnswer('vLLM sends a call without its result to the model; Sluice returns 400.'),
  },
  {
    label: 'an empty block of text',
    body: { messages: [user(text(''), text('Tell me about harbours.'))] },
  },
  {
    label: 'thinking in the history',
    body: { messages: [...question, assistant({ type: 'thinking', thinking: 'Ports.', signature: 's' }, text('Ports.')), ...question] },
  },
  {
    label: 'redacted thinking in the history',
    body: { messages: [...question, assistant({ type: 'redacted_thinking', data: 'x' }, text('Ports.')), ...question] },
  },
  {
    label: 'a document',
    body: { messages: [user({ type: 'document', source: { type: 'text', media_type: 'text/plain', data: 'Ports.' } }, text('What?'))] },
    reasons: otherAnswer('vLLM refuses documents; Sluice sends their text.'),
  },
  {
    label: 'an image',
    body: { messages: [user({ type: 'image', source: { type: 'url', url: 'https://example.com/a.png' } }, text('What?'))] },
    reasons: otherAnswer('What vLLM answers depends on the model; Sluice returns 400.'),
  },
  {
    label: 'a tool of Anthropic',
    body: { messages: question, tools: [{ type: 'web_search_20250305', name: 'web_search' }] },
    reasons: otherAnswer('vLLM refuses it as a tool without a schema, or sends it as a function; Sluice names it in a 400.'),
  },
  {
    label: 'an answer to continue',
    body: { messages: [...question, assistant(text('A harbour is'))] },
    reasons: otherPrompt('vLLM answers after the unfinished turn instead of continuing it.'),
  },
  {
    label: 'no messages',
    body: { messages: [] },
    reasons: otherAnswer('vLLM leaves the check to the chat template.'),
  },
  {
    label: 'a model that does not exist',
    body: { model: 'no-such-model', messages: question },
    reasons: { error: 'vLLM has error types of its own.', id: 'An error of vLLM has no id.' },
  },
];
