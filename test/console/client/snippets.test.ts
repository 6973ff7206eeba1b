import { execFileSync } from 'node:child_process';
import { describe, expect, test } from '@jest/globals';
import { snippetsOf } from '../../../console/client/snippets.ts';

const body = { model: 'qwen3-8b', messages: [{ role: 'user', content: 'It\'s "here": $HOME `id`' }], stream: true, stop: null };
const snippets = new Map(snippetsOf({ baseUrl: 'https://api.example.com/v1', body, headers: { 'x-user-id': 'a' } }));

describe('snippetsOf', () => {
  test('quotes texts for the shell, so that curl sends exactly the body', () => {
    const printing = `curl() { printf '%s\\n' "$@"; }\nAPI_KEY=sk-test\n${snippets.get('curl')}`;
    const printed = execFileSync('sh', ['-c', printing], { encoding: 'utf8' });
    expect(printed).toContain('https://api.example.com/v1/chat/completions\n-H\nauthorization: Bearer sk-test\n-H\nx-user-id: a\n');
    expect(JSON.parse(printed.slice(printed.indexOf('-d\n') + 3))).toEqual(body);
  });

  test('writes values as Python has them', () => {
    const python = snippets.get('Python');
    expect(python).toContain('    stream=True,\n    stop=None,\n)');
    expect(python).toContain('for chunk in completion:');
    expect(python).toContain(String.raw`"content": "It's \"here\": $HOME`);
  });

  test('reads the secret from a variable in each language', () => {
    expect([...snippets.values()].map((code) => code.includes('API_KEY'))).toEqual([true, true, true]);
  });
});
