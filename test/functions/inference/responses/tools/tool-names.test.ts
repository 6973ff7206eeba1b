import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { FunctionName } from '../../../../../functions/inference/chat/tool.ts';
import { flatten } from '../../../../../functions/inference/responses/tools/flatten.ts';
import { parseTools } from '../../../../../functions/inference/responses/tools/tool-kinds.ts';
import { createToolNames } from '../../../../../functions/inference/responses/tools/tool-names.ts';

const fn = (name: string) => ({ type: 'function', name });
const custom = (name: string) => ({ type: 'custom', name });
const namespace = (name: string, ...tools: object[]) => ({ type: 'namespace', name, description: `About ${name}.`, tools });
const namesOf = (...tools: object[]) => createToolNames(parseTools(tools));
const sent = (...tools: object[]): string[] => namesOf(...tools).functions.map(({ name }) => name);

describe('the names of functions', () => {
  test('are those of the tools, with the namespace before them', () => {
    expect(sent(fn('f'), custom('apply_patch'), namespace('mcp__time', fn('now'), custom('note')))).toEqual([
      'f',
      'apply_patch',
      'mcp__time__now',
      'mcp__time__note',
    ]);
  });

  test('have the description of the namespace once, whatever its first tool is', () => {
    const { functions } = namesOf(namespace('time', { type: 'web_search' }, fn('now'), fn('later')));
    expect(functions.map(({ description }) => description)).toEqual(['About time.', undefined]);
  });

  test('lack the default namespace of Codex, which its clients do not know either', () => {
    const names = namesOf(namespace('functions', custom('exec'), fn('wait')));
    expect(names.functions.map(({ name }) => name)).toEqual(['exec', 'wait']);
    expect(names.find('exec')).toEqual({ kind: 'custom', name: 'exec' });
    expect(names.find('wait')).toEqual({ kind: 'function', name: 'wait' });
  });

  test('end in a hash where tools would share a name, except those of plain functions', () => {
    const [plain, ...others] = sent(fn('a__b'), namespace('a', fn('b')), custom('a__b'));
    expect(plain).toBe('a__b');
    for (const name of others) expect(name).toMatch(/^a__b_[0-9a-f]{12}$/);
    expect(new Set(others).size).toBe(2);
  });

  test('end in a hash where the client’s name has other characters or is too long', () => {
    const [odd, long] = sent(namespace('n', fn('über alles'), fn('x'.repeat(100))));
    expect(odd).toMatch(/^n___ber_alles_[0-9a-f]{12}$/);
    expect(long).toHaveLength(64);
  });

  test('are the same for a call whose tool is no longer offered', () => {
    const tool = { kind: 'function' as const, namespace: 'a', name: 'b c' };
    expect(namesOf().encode(tool)).toBe(namesOf(namespace('a', fn('b c'))).encode(tool));
  });

  test('mean the first of two tools with the same name', () => {
    const names = namesOf({ ...fn('f'), description: 'One.' }, { ...fn('f'), description: 'Two.' });
    expect(names.functions).toEqual([expect.objectContaining({ name: 'f', description: 'One.' })]);
  });
});

const text = fc.oneof(
  fc.constantFrom('a', 'b', 'a__b', 'functions', 'tool_search', 'x y', 'é'),
  fc.string({ minLength: 1, maxLength: 90 }),
);
const plainName = fc.oneof(fc.constantFrom('a', 'a__b', 'tool_search'), fc.stringMatching(/^[A-Za-z0-9_-]{1,64}$/));
const member = fc.oneof(text.map(fn), text.map(custom));
const tool = fc.oneof(
  plainName.map(fn),
  text.map(custom),
  fc.tuple(text, fc.array(member, { maxLength: 4 })).map(([name, tools]) => namespace(name, ...tools)),
  fc.constantFrom({ type: 'tool_search', execution: 'client' }, { type: 'local_shell' }, { type: 'web_search' }),
);

test('names of any tools are unique, valid, independent of the order, and lead back to their tools', () => {
  fc.assert(
    fc.property(fc.array(tool, { maxLength: 12 }), fc.context(), (tools, context) => {
      const names = namesOf(...tools);
      const all = names.functions.map(({ name }) => name);
      context.log(all.join(' '));
      expect(new Set(all).size).toBe(all.length);
      for (const name of all) expect(FunctionName.safeParse(name).success).toBe(true);
      for (const name of all) expect(names.encode(names.find(name) as never)).toBe(name);
      for (const { named } of flatten(parseTools(tools))) {
        const { kind, name, namespace: of } = named;
        expect(names.find(names.encode(named))).toEqual({ kind, name, ...(of && of !== 'functions' && { namespace: of }) });
      }
      expect([...namesOf(...tools.toReversed()).functions].map(({ name }) => name).toSorted()).toEqual(all.toSorted());
    }),
  );
});
