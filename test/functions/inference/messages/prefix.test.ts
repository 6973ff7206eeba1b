import { readFileSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { messagesPrompt } from '../../../../functions/inference/messages/to-chat.ts';
import { loadTokenizer } from '../../../../functions/tokenizer/engine/loaded-tokenizer.ts';
import { CHAT_TEMPLATE_FILE } from '../../../../infra/local/model-server/model/tokenizer.ts';
import { texts } from '../../../support/emulators/tokenizers.ts';
import { assistant, model, promptOf, read, result, system, text, used, user } from './requests.ts';

// As many models: a second system message, or two messages of one side in a row, is an error.
const STRICT = `{%- set start = 1 if messages[0].role == 'system' else 0 -%}
{%- for message in messages -%}
  {%- if message.role == 'system' and not loop.first -%}{{- raise_exception('System message must be at the beginning.') -}}{%- endif -%}
  {%- if loop.index0 == start and message.role != 'user' -%}{{- raise_exception('The first message must be from the user.') -}}{%- endif -%}
  {%- if not loop.first and message.role == loop.previtem.role and message.role != 'tool' -%}
    {{- raise_exception('Conversation roles must alternate.') -}}
  {%- endif -%}
  {{- '[' + message.role + ']' + (message.content or '') -}}
  {%- for call in message.tool_calls or [] -%}{{- call.function | tojson -}}{%- endfor -%}
  {{- '[end]' -}}
{%- endfor -%}
{%- if add_generation_prompt -%}{{- '[assistant]' -}}{%- endif -%}`;

const templates = {
  sluice: readFileSync(CHAT_TEMPLATE_FILE, 'utf8'),
  chatml: texts.chatTemplate.replace('+ message.content', "+ (message.content or '')"),
  strict: STRICT,
};
const renders = Object.entries(templates).map(
  ([name, chatTemplate]) => [name, loadTokenizer({ tokenizer: texts.tokenizer, chatTemplate }).render] as const,
);

describe('a system message in the middle', () => {
  test('is appended to the text of the user before it (bug 2)', () => {
    expect(promptOf([user('Hi'), system('Be brief.')])).toEqual([user('Hi\n\nBe brief.')]);
  });

  test('is appended to the last result of a turn without text, never between calls and results', () => {
    const calls = assistant([used('a'), used('b')]);
    const expected = ['one', 'two\n\nTokens left: 5'];
    const both = [result('a', 'one'), result('b', 'two')];
    const results = user(both);
    const contents = (messages: unknown[]) =>
      promptOf([user('Hi'), calls, ...messages])
        .slice(2)
        .map(({ content }) => content);
    expect(contents([results, system('Tokens left: 5')])).toEqual(expected);
    expect(contents([system('Tokens left: 5'), results])).toEqual(expected);
    expect(contents([results, system('Tokens left: 5'), user('Go on')])).toEqual([...expected, 'Go on']);
    expect(contents([user([...both, text('Go on')]), system('Tokens left: 5')])).toEqual(['one', 'two', 'Go on\n\nTokens left: 5']);
  });

  test('begins the next message of the user, or is one, after a message of the assistant', () => {
    expect(promptOf([user('Hi'), assistant('Hello'), system('Be brief.'), user('And?')])).toEqual([
      user('Hi'),
      assistant('Hello'),
      user('Be brief.\n\nAnd?'),
    ]);
    expect(promptOf([user('Hi'), assistant('Hello'), system('Be brief.')]).at(-1)).toEqual(user('Be brief.'));
  });
});

// The parts of one round: what the user and the system send, and what the assistant answers.
const words = fc.constantFrom('river', 'lock', 'A weir.\n', 'x');
const opening = fc.record({ say: words, remind: fc.option(words), first: fc.option(words) });
const round: fc.Arbitrary<Round> = fc.record({
  say: fc.option(words),
  calls: fc.integer({ min: 0, max: 2 }),
  remind: fc.option(words),
  next: words,
  blocks: fc.boolean(),
});

interface Round {
  say: string | null;
  calls: number;
  remind: string | null;
  next: string;
  blocks: boolean;
}

// The messages of each request.
const toRounds = (start: { say: string; remind: string | null; first: string | null }, rounds: Round[]): object[][] => {
  const messages: object[] = start.first === null ? [] : [system(start.first)];
  messages.push(user(start.say));
  if (start.remind !== null) messages.push(system(start.remind));
  const prompts = [[...messages]];
  for (const [index, { say, calls, remind, next, blocks }] of rounds.entries()) {
    const ids = Array.from({ length: calls }, (_, call) => `call_${index}_${call}`);
    messages.push(assistant([...(say === null && calls > 0 ? [] : [text(say ?? 'Well.')]), ...ids.map((id) => used(id, 'f', { id }))]));
    messages.push(user([...ids.map((id) => result(id, next)), ...(calls === 0 || blocks ? [text(next)] : [])]));
    if (remind !== null) messages.push(system(remind));
    prompts.push([...messages]);
  }
  return prompts;
};

describe('a conversation that grows', () => {
  test.each(renders)('begins with the prompt of the turn before (bugs 3 and 4): %s', (_, render) => {
    fc.assert(
      fc.property(opening, fc.array(round, { maxLength: 5 }), fc.option(words), (start, rounds, prompt) => {
        const rendered = toRounds(start, rounds).map((messages) =>
          render(messagesPrompt(read({ messages, ...(prompt !== null && { system: prompt }) }), model)),
        );
        for (const [turn, before] of rendered.slice(0, -1).entries()) expect(rendered[turn + 1]?.startsWith(before)).toBe(true);
      }),
    );
  });

  test('has one system message at most, and it is the first (bug 41)', () => {
    fc.assert(
      fc.property(opening, fc.array(round, { maxLength: 5 }), fc.option(words), (start, rounds, prompt) => {
        const messages = promptOf(toRounds(start, rounds).at(-1), prompt === null ? {} : { system: prompt });
        expect(messages.slice(1).map(({ role }) => role)).not.toContain('system');
      }),
    );
  });

  test('has the same prompt in requests that differ only in the billing line (bug 32)', () => {
    const [one, other] = ['1a2b', '3c4d'].map((cch) =>
      promptOf([user('Hi')], { system: [text(`x-anthropic-billing-header: cc_version=2.1.100; cch=${cch};`), text('You are an agent.')] }),
    );
    expect(one).toEqual(other);
  });
});
