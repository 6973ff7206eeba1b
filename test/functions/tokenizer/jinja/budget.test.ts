import { expect, test } from '@jest/globals';
import { MAX_STEPS } from '../../../../functions/tokenizer/jinja/budget.ts';
import { parseTemplate } from '../../../../functions/tokenizer/jinja/nodes.ts';
import { createTemplate } from '../../../../functions/tokenizer/jinja/template.ts';
import type { Value } from '../../../../functions/tokenizer/jinja/values.ts';

const render = (template: string, variables: readonly (readonly [string, Value])[] = []): string =>
  createTemplate(parseTemplate(template))(variables);

const LIMITS = /more than 1,000,000 steps|at most|larger than|call stack/;
// A rendering that ends takes less than a second on a quiet machine.
const MAX_CPU_MS = 8_000;

const DOUBLING = "{% set ns = namespace(a='ab') %}{% for x in range(60) %}{% set ns.a = ns.a + ns.a %}{% endfor %}";
const NESTED_LISTS =
  '{% set ns = namespace(a=[1], b=[1]) %}{% for x in range(60) %}{% set ns.a = [ns.a, ns.a] %}{% set ns.b = [ns.b, ns.b] %}{% endfor %}';

test.each([
  ['nested loops', '{% for a in range(3000) %}{% for b in range(3000) %}{% endfor %}{% endfor %}'],
  ['a long nested loop', '{% for a in range(100000) %}{% for b in range(100000) %}x{% endfor %}{% endfor %}'],
  ['powers in a loop', '{% for a in range(100000) %}{{ 9 ** 1000 }}{% endfor %}'],
  ['powers of powers', '{{ ((9 ** 1000) ** 1000) ** 1000 }}'],
  ['squares of squares', '{% set ns = namespace(a=9) %}{% for x in range(60) %}{% set ns.a = ns.a * ns.a %}{% endfor %}'],
  ['ranges that nobody reads', '{% for a in range(100000) %}{% set b = range(100000) %}{% endfor %}'],
  ['repeated texts', "{% for a in range(100000) %}{{ 'x' * 100000 }}{% endfor %}"],
  ['repetitions of a repetition', "{{ (('x' * 100000) * 100000) | length }}"],
  ['repeated lists', '{{ (([1] * 100000) * 100000) | length }}'],
  ['a text that doubles', `${DOUBLING}{{ ns.a | length }}`],
  ['lists of lists, compared', `${NESTED_LISTS}{{ ns.a == ns.b }}`],
  ['lists of lists, printed', `${NESTED_LISTS}{{ ns.a }}`],
  ['lists of lists as JSON', `${NESTED_LISTS}{{ ns.a | tojson }}`],
  ['a macro that calls itself twice', '{% macro m(n) %}{% if n > 0 %}{{ m(n - 1) }}{{ m(n - 1) }}{% endif %}{% endmacro %}{{ m(60) }}'],
  ['a macro that calls itself for ever', '{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}'],
  ['filters of filters', "{% for a in range(1000) %}{{ range(100000) | map('string') | map('upper') | join | length }}{% endfor %}"],
  ['unique items', '{{ range(100000) | unique | list | length }}'],
  ['sorts of long texts', "{% for a in range(1000) %}{{ (['x' * 100000 ~ 'b', 'x' * 100000 ~ 'a'] * 100) | sort | length }}{% endfor %}"],
  [
    'searches for a part of a text',
    "{% set t = 'a' * 100000 %}{% set p = 'a' * 50000 ~ 'b' %}{% for a in range(1000) %}{{ p in t }}{{ t.find(p) }}{% endfor %}",
  ],
  ['replacements that grow', "{{ ('a' * 100000).replace('a', 'b' * 100000) | length }}"],
  ['a join that grows', "{{ (['x' * 100000] * 100000) | join('y' * 100000) | length }}"],
  ['a wide padding', "{{ 'a'.ljust(500000000) | length }}"],
  ['a wide indentation', "{{ 'a' | indent(500000000) | length }}"],
  ['numbers of many digits', "{% for a in range(100000) %}{{ ('9' * 100000) | int }}{% endfor %}"],
  ['a loop over the characters of a text', "{% for a in range(1000) %}{% for c in 'x' * 100000 %}{% endfor %}{% endfor %}"],
  ['a filtered loop that keeps nothing', '{% for a in range(1000) %}{% for b in range(100000) if b < 0 %}{% endfor %}{% endfor %}'],
  ['one expression in a loop', `{% for a in range(100000) %}{{ ${Array(500).fill('a').join(' + ')} }}{% endfor %}`],
])('%s: the rendering ends with an error after a bounded time', (_, template) => {
  const before = process.cpuUsage();
  expect(() => render(template)).toThrow(LIMITS);
  const { user, system } = process.cpuUsage(before);
  expect((user + system) / 1_000).toBeLessThan(MAX_CPU_MS);
});

test('gives each rendering a budget of its own', () => {
  const template = createTemplate(parseTemplate('{% for a in range(90000) %}{{ a }}{% endfor %}'));
  for (let i = 0; i < 4; i++) expect(template([])).toMatch(/89999$/);
  expect(() => render('{% for a in range(1000) %}{% for b in range(1000) %}{% endfor %}{% endfor %}')).toThrow(
    `${MAX_STEPS.toLocaleString('en-US')} steps`,
  );
  expect(template([])).toMatch(/89999$/);
});

test('is enough for a chat of thousands of messages, and for one very long text', () => {
  const template = `{%- if messages[0].role == 'system' -%}<|im_start|>system\n{{ messages[0].content }}<|im_end|>\n{%- endif -%}
{%- set ns = namespace(last=messages | length - 1) -%}
{%- for message in messages[::-1] -%}
  {%- set index = (messages | length - 1) - loop.index0 -%}
  {%- if message.role == 'user' and message.content is string and not (message.content.startswith('<tool_response>')) -%}{%- set ns.last = index -%}{%- endif -%}
{%- endfor -%}
{%- for message in messages -%}
  {%- if message.content is string -%}{%- set content = message.content -%}{%- else -%}{%- set content = '' -%}{%- endif -%}
  {%- if message.role == 'user' or (message.role == 'system' and not loop.first) -%}
    {{- '<|im_start|>' + message.role + '\n' + content + '<|im_end|>' + '\n' -}}
  {%- elif message.role == 'assistant' -%}
    {%- set reasoning = '' -%}
    {%- if '</think>' in content -%}
      {%- set reasoning = content.split('</think>')[0].rstrip('\n').split('<think>')[-1].lstrip('\n') -%}
      {%- set content = content.split('</think>')[-1].lstrip('\n') -%}
    {%- endif -%}
    {{- '<|im_start|>' + message.role + '\n' + (reasoning | trim) + content.strip('\n') -}}
    {%- if loop.last or loop.index0 > ns.last -%}{{- message | tojson -}}{%- endif -%}
    {{- '<|im_end|>\n' -}}
  {%- endif -%}
{%- endfor -%}`;
  const message = (role: string, content: string): Value =>
    new Map<Value, Value>([
      ['role', role],
      ['content', content],
    ]);
  const chat = (turns: number, text: string): Value[] =>
    Array.from({ length: turns }, (_, i) => message(i % 2 ? 'assistant' : 'user', `<think>${text}</think>${i}`));
  expect(render(template, [['messages', chat(5_000, 'a')]])).toContain('4999');
  expect(render(template, [['messages', chat(2, 'a'.repeat(2_000_000))]]).length).toBeGreaterThan(2_000_000);
});
