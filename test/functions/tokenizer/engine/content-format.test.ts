import { expect, test } from '@jest/globals';
import { loadTokenizer } from '../../../../functions/tokenizer/engine/loaded-tokenizer.ts';
import type { PromptMessage } from '../../../../shared/tokens/prompt.ts';
import { texts } from '../../../support/emulators/tokenizers.ts';

const messages: PromptMessage[] = [
  { role: 'system', content: 'S' },
  { role: 'user', content: '' },
  { role: 'assistant', content: null, tool_calls: [{ id: 'c', type: 'function', function: { name: 'f', arguments: '{}' } }] },
  { role: 'tool', content: 'T', tool_call_id: 'c' },
];
const asText = '"S";"";"";"T";';
const asParts = '[{"type": "text", "text": "S"}];[{"type": "text", "text": ""}];[];"T";';

// With a loop of the case that is never entered.
const contentIn = (template: string): string =>
  loadTokenizer({ ...texts, chatTemplate: `${template}{% for x in messages %}{{ x.content | tojson }};{% endfor %}` }).render({ messages });

const loop = (items: string, body = ''): string => `{% for part in ${items} %}${body}{% endfor %}`;
const message = (body: string, items = 'messages', name = 'message'): string =>
  `{% for ${name} in ${items} %}{% if false %}${body}{% endif %}{% endfor %}`;

// As vLLM 0.32 detects them for the same constructs (vllm/renderers/hf.py).
test.each([
  ['reads it as text', message('{{ message.content }}')],
  ['filters it', message('{{ message.content | trim }}')],
  ['loops over something else', message(loop('message.tool_calls'))],
  ['loops over a variable with another name', message(`{% set text = message.content %}${loop('text')}`)],
  ['passes it to a macro that does not loop', `{% macro m(c) %}{{ c }}{% endmacro %}${message('{{ m(message.content) }}')}`],
  ['has a macro with a loop over `content` that never gets it', `{% macro m(content) %}${loop('content')}{% endmacro %}`],
  ['unpacks what it loops over', `{% if false %}{% for a, b in messages %}{% endfor %}{% endif %}${message(loop('message.content'))}`],
  ['keeps the messages in a namespace', `{% set ns = namespace() %}{% set ns.m = messages %}${message(loop('message.content'))}`],
])('sends text to a template that %s', (_, template) => {
  expect(contentIn(template)).toBe(asText);
});

test.each([
  ['loops over it', message(loop('message.content'))],
  ['loops over it by its key', message(loop("message['content']"))],
  ['loops over a part of it', message(loop('message.content[1:]'))],
  ['loops over it with a filter', message(loop("message.content | selectattr('type', 'equalto', 'text')"))],
  ['loops over it with a condition', message(loop("message.content if part.type == 'text'"))],
  ['loops over a variable `content`', message(`{% set content = message.content %}${loop('content')}`)],
  ['loops over the messages under another name', `{% set rest = messages[1:] %}${message(loop('m.content'), 'rest', 'm')}`],
  ['passes it to a macro that loops', `{% macro m(c) %}${loop('c')}{% endmacro %}${message('{{ m(message.content) }}')}`],
  ['passes it to a macro by name', `{% macro m(a, c) %}${loop('c')}{% endmacro %}${message('{{ m(1, c=message.content) }}')}`],
])('sends parts to a template that %s, but results of tools as text', (_, template) => {
  expect(contentIn(template)).toBe(asParts);
});
