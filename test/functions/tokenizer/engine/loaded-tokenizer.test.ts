import { describe, expect, test } from '@jest/globals';
import { loadTokenizer } from '../../../../functions/tokenizer/engine/loaded-tokenizer.ts';
import { TemplateFailed, TemplateRefused } from '../../../../shared/tokens/errors.ts';
import type { ChatPrompt, PromptMessage } from '../../../../shared/tokens/prompt.ts';
import { texts } from '../../../support/emulators/tokenizers.ts';

const render = (chatTemplate: string, prompt: Partial<ChatPrompt> = {}, config?: object): string =>
  loadTokenizer({ ...texts, chatTemplate, config: config && JSON.stringify(config) }).render({
    messages: [{ role: 'user', content: 'Hi' }],
    ...prompt,
  });

const call = (text: string): PromptMessage => ({
  role: 'assistant',
  content: null,
  tool_calls: [{ id: 'c1', type: 'function', function: { name: 'look', arguments: text } }],
});

describe('a chat template', () => {
  test('gets arguments of calls as objects, content as text, reasoning under both of its names', () => {
    const messages = [call('{"far": {"a": 1}}'), { ...call(''), reasoning: 'Hm.' }, call('no JSON')];
    const each = (expression: string): string =>
      render(`{% for message in messages %}{{ ${expression} | tojson }};{% endfor %}`, { messages });
    expect(each('message.tool_calls[0].function.arguments')).toBe('{"far": {"a": 1}};{};{};');
    expect(each('message.content')).toBe('"";"";"";');
    expect(render('{{ messages[1].reasoning + messages[1].reasoning_content }}', { messages })).toBe('Hm.Hm.');
  });

  test('gets the special tokens of tokenizer_config.json, however they are written', () => {
    const config = { bos_token: '<s>', eos_token: { content: '</s>', lstrip: false }, pad_token: null, model_max_length: 5 };
    expect(render('{{ bos_token }}{{ eos_token }}{{ pad_token }}', {}, config)).toBe('<s></s>');
  });

  test('gets its variables, which can’t replace those of the prompt or the language', () => {
    const variables = { mood: 'calm', messages: [], add_generation_prompt: false, range: 'no', raise_exception: 'no' };
    const template = '{{ mood }}{{ messages | length }}{{ add_generation_prompt }}{{ range(2) | length }}';
    expect(render(template, { variables })).toBe('calm1True2');
  });

  test('gets no tools if there are none', () => {
    expect(render('{% if tools is not none %}tools{% endif %}{{ tools is defined }}')).toBe('True');
  });
});

describe('a continued message', () => {
  const continued = (template: string, content: string) =>
    render(template, {
      messages: [
        { role: 'user', content: 'Hi' },
        { role: 'assistant', content },
      ],
      continues: true,
    });
  const chatml =
    '{% for m in messages %}<{{ m.role }}>{{ m.content }}</>\n{% endfor %}{% if add_generation_prompt %}<assistant>{% endif %}';

  test('ends the prompt, with the spaces at its end', () => {
    expect(continued(chatml, 'A lock ')).toBe('<user>Hi</>\n<assistant>A lock ');
    expect(continued(chatml, 'Hi')).toBe('<user>Hi</>\n<assistant>Hi');
  });

  test('ends it where the template strips messages, as transformers does', () => {
    expect(continued(chatml.replace('m.content', 'm.content | trim'), ' A lock ')).toBe('<user>Hi</>\n<assistant>A lock');
  });

  test('ends it where the template reads parts', () => {
    const parts = '{% for m in messages %}<{{ m.role }}>{% for part in m.content %}{{ part.text }}{% endfor %}</>{% endfor %}';
    expect(continued(parts, 'A lock')).toBe('<user>Hi</><assistant>A lock');
  });

  test('is rejected where the template leaves it out', () => {
    expect(() => continued('{{ messages[0].content }}', 'A lock')).toThrow(TemplateRefused);
  });
});

test('takes tokenizer_config.json’s template without a file: of several, the default or that for tools', () => {
  const load = (chat_template: unknown) => loadTokenizer({ tokenizer: texts.tokenizer, config: JSON.stringify({ chat_template }) });
  const prompt: ChatPrompt = { messages: [{ role: 'user', content: 'Hi' }] };
  expect(load('one').render(prompt)).toBe('one');
  expect(
    load([
      { name: 'rag', template: 'two' },
      { name: 'default', template: 'three' },
    ]).render(prompt),
  ).toBe('three');
  const several = load([
    { name: 'default', template: 'plain' },
    { name: 'tool_use', template: 'with tools' },
  ]);
  expect(several.render(prompt)).toBe('plain');
  expect(several.render({ ...prompt, tools: '[]' })).toBe('with tools');
});

test('reports the reason that a template gives for rejecting the messages', () => {
  const refuse = (): string => render("{{ raise_exception('Roles must alternate.') }}");
  expect(refuse).toThrow(TemplateRefused);
  expect(refuse).not.toThrow(TemplateFailed);
  expect(refuse).toThrow('Roles must alternate.');
});

test.each([
  ['{{ messages | weird }}', 'weird'],
  ['{{ messages[0].nothing.at.all() }}', 'is undefined'],
  ["{%- for tool in tools %}{{ '// ' + tool.description }}{% endfor %}", 'undefined'],
])('reports a failed template without details, which are in the error’s cause (%s)', (source, words) => {
  const fail = (): string => render(source, { tools: '[{"name":"look"}]' });
  expect(fail).toThrow(TemplateFailed);
  expect(fail).toThrow('it cannot be rendered with these messages, tools and tool call arguments.');
  expect(fail).toThrow(expect.objectContaining({ cause: expect.objectContaining({ message: expect.stringContaining(words) }) }));
});

test.each([
  ['tokenizer.json that is no JSON', { tokenizer: '{' }, 'tokenizer.json is not JSON'],
  ['tokenizer.json that is no tokenizer', { tokenizer: '{"a":1}' }, 'tokenizer.json cannot be read'],
  ['a config that is no JSON', { config: 'x' }, 'tokenizer_config.json'],
  ['a template that does not end', { chatTemplate: '{% for x in y %}' }, 'The chat template cannot be read'],
])('names the cause in the error: %s', (_name, changes, words) => {
  expect(() => loadTokenizer({ ...texts, ...changes })).toThrow(words);
});

test('counts texts without a chat template, and renders no prompt', () => {
  const { encode, render: renderNothing } = loadTokenizer({ ...texts, chatTemplate: undefined });
  expect(encode('Hello', true).length).toBeGreaterThan(0);
  const cause = expect.objectContaining({ message: expect.stringContaining('There is no chat template') });
  expect(() => renderNothing({ messages: [] })).toThrow(expect.objectContaining({ name: 'TemplateFailed', cause }));
});
