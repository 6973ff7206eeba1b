import { readFileSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';
import { createRenderPrompt } from '../../../../functions/tokenizer/engine/chat-template.ts';

/**
 * Rendered by jinja2 3.1.6 in Python 3.11, with the environment of transformers' `apply_chat_template`: ImmutableSandboxedEnvironment, trim_blocks,
 * lstrip_blocks, loopcontrols, a `tojson` that escapes nothing. `expressions` has one rendered text for each of `texts`, the value of `s`.
 */
const recorded = JSON.parse(readFileSync(new URL('python-templates.json', import.meta.url), 'utf8')) as {
  texts: string[];
  expressions: Record<string, string[]>;
  templates: { template: string; variables: Record<string, unknown>; rendered: string }[];
};

const render = (template: string, variables: Record<string, unknown>): string => {
  const { messages = [], add_generation_prompt: addGenerationPrompt = false, ...others } = variables;
  return createRenderPrompt(template, {})(
    { messages: messages as [], variables: others },
    { addGenerationPrompt: addGenerationPrompt === true },
  );
};

describe('a template renders as in Python', () => {
  test.each(Object.entries(recorded.expressions))('%s', (expression, rendered) => {
    expect(recorded.texts.map((s) => render(`{{ ${expression} }}`, { s }))).toEqual(rendered);
  });

  test.each(recorded.templates.map(({ template, ...others }) => [template.slice(0, 60), { template, ...others }] as const))(
    '%s',
    (_, { template, variables, rendered }) => {
      expect(render(template, variables)).toBe(rendered);
    },
  );

  test('in linear time', () => {
    const text = `${' '.repeat(2_000_000)}${'x'.repeat(10)}${'\n'.repeat(2_000_000)}`;
    const before = process.cpuUsage();
    expect(render("{{ s.strip() }}{{ s.strip(' \\n') | length }}{{ s | trim }}", { s: text })).toBe(`${'x'.repeat(10)}10${'x'.repeat(10)}`);
    const { user, system } = process.cpuUsage(before);
    expect((user + system) / 1_000).toBeLessThan(3_000);
  });

  test('and evaluates nested filters once', () => {
    const nested = '| trim | string '.repeat(40);
    expect(render(`{% macro m() %}a{% endmacro %}{{ m() ${nested} }}`, {})).toBe('a');
  });
});
