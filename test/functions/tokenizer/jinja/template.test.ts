import { readFileSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';
import { parseJson } from '../../../../functions/tokenizer/jinja/json.ts';
import { parseTemplate } from '../../../../functions/tokenizer/jinja/nodes.ts';
import { createTemplate, RaisedByTemplate } from '../../../../functions/tokenizer/jinja/template.ts';
import type { Dict, Value } from '../../../../functions/tokenizer/jinja/values.ts';

// The template renders, calls `raise_exception`, or fails with this Python error.
interface Outcome {
  rendered?: string;
  raised?: string;
  fails?: string;
}

// Recorded with jinja2 3.1.6 in Python 3.12, with the environment of transformers' `apply_chat_template`:
// ImmutableSandboxedEnvironment, trim_blocks, lstrip_blocks, loopcontrols, `generation`, a `tojson` without escapes.
// `of_texts` has a rendered text for each of `texts`, the value of `s`; the others are rendered with `variables`.
const text = readFileSync(new URL('python-templates.json', import.meta.url), 'utf8');
const recorded = JSON.parse(text) as {
  texts: string[];
  of_texts: Record<string, string[]>;
  expressions: Record<string, Outcome>;
  templates: ({ template: string; variables?: object } & Outcome)[];
};
// Python tells 1 from 1.0, so the values are not parsed by JavaScript.
const variables = (parseJson(text) as Dict).get('variables') as Map<string, Value>;

const render = (template: string, more: object = {}): string =>
  createTemplate(parseTemplate(template))([...variables, ...(parseJson(JSON.stringify(more)) as Map<string, Value>)]);

const outcomeOf = (template: string, more: object, { fails }: Outcome): Outcome => {
  try {
    return { rendered: render(template, more) };
  } catch (error) {
    if (error instanceof RaisedByTemplate) return { raised: error.message };
    return { fails: fails ?? String(error) };
  }
};

describe('a template', () => {
  test.each(Object.entries(recorded.of_texts))('%s', (expression, rendered) => {
    expect(recorded.texts.map((s) => render(`{{ ${expression} }}`, { s }))).toEqual(rendered);
  });

  test.each(Object.entries(recorded.expressions))('{{ %s }}', (expression, outcome) => {
    expect(outcomeOf(`{{ ${expression} }}`, {}, outcome)).toEqual(outcome);
  });

  test.each(recorded.templates.map(({ template, ...others }) => [template, others] as const))(
    '%j',
    (template, { variables: more = {}, ...outcome }) => {
      expect(outcomeOf(template, more, outcome)).toEqual(outcome);
    },
  );

  test('renders in linear time', () => {
    // One step a blank is far below a second of CPU time, one step a pair of blanks is minutes.
    const s = `${' '.repeat(400_000)}${'x'.repeat(10)}${'\n'.repeat(400_000)}`;
    const before = process.cpuUsage();
    expect(render("{{ s.strip() }}{{ s.strip(' \\n') | length }}{{ s | trim }}{{ s.split() | first }}", { s })).toBe(
      'xxxxxxxxxx10xxxxxxxxxxxxxxxxxxxx',
    );
    const { user, system } = process.cpuUsage(before);
    expect((user + system) / 1_000).toBeLessThan(30_000);
  });

  test('evaluates nested filters once', () => {
    const nested = '| trim | string '.repeat(40);
    expect(render(`{% macro m() %}a{% endmacro %}{{ m() ${nested} }}`)).toBe('a');
  });
});

test.each([
  ['{{ a | truncate(3) }}', "The filter 'truncate' is not supported."],
  ['{% if false %}{{ a | e }}{% endif %}', "The filter 'e' is not supported."],
  ["{{ a | map('urlencode') | list }}", "The filter 'urlencode' is not supported."],
  ['{{ a is filter }}', "The test 'filter' is not supported."],
  ["{% for x in a %}{{ loop.cycle('b', 'c') }}{% endfor %}", "The method 'cycle' is not supported."],
  ['{{ a.zfill(3) }}', "The method 'zfill' is not supported."],
  ["{{ cycler('a') }}", "The function 'cycler' is not supported."],
  ['{% if 1 < 2 < 3 %}{% endif %}', 'Chained comparisons'],
  ['{{ 1 in a not in b }}', 'Chained comparisons'],
  ['{% with a = 1 %}{% endwith %}', 'Unknown statement type: with'],
  ["{% include 'x' %}", 'Unknown statement type: include'],
  ['{{ a is divisibleby 5 }}', "The test 'divisibleby' can have no argument here."],
  ['{{ [a is not sameas none, 2] }}', "The test 'sameas' can have no argument here."],
  ['{{ range(a is eq(1), 2) }}', "The test 'eq' can have no argument here."],
  ['{% for x in a recursive %}{% endfor %}', 'Expected closing statement token'],
  ["{{ 'a\\db' }}", 'Unexpected escaped character: d'],
  ['{{ 1e3 }}', 'Expected closing expression token'],
  ['{% if a %}', 'undefined'],
  ['{{ a', 'A tag has no end'],
  ["{{ 'a }}", 'A string has no end'],
  ['{# a', 'A comment has no end'],
  ['{% raw %} a', 'A raw block has no end'],
])('rejects %s before anything is rendered', (template, reason) => {
  expect(() => createTemplate(parseTemplate(template))).toThrow(reason);
});
