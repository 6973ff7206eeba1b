import { execFile, execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import { promisify } from 'node:util';
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
    expect(python).toContain('for chunk in completion:\n    for choice in chunk.choices:');
    expect(python).toContain(String.raw`"content": "It's \"here\": $HOME`);
  });

  test('runs with the OpenAI client of JavaScript, which sends the body and prints the stream', async () => {
    const received: { body: unknown; headers: IncomingHttpHeaders }[] = [];
    const server = createServer(async (request, response) => {
      received.push({ body: await json(request), headers: request.headers });
      const chunks = [{ choices: [{ delta: { content: 'Hello' } }] }, { choices: [], usage: {} }];
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.end(`${chunks.map((chunk) => `data: ${JSON.stringify(chunk)}\n\n`).join('')}data: [DONE]\n\n`);
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const code = new Map(snippetsOf({ baseUrl: `http://127.0.0.1:${port}/v1`, body, headers: { 'x-user-id': 'a' } })).get('JavaScript');
    const run = promisify(execFile);
    const env = { ...process.env, API_KEY: 'sk-test' };
    const { stdout } = await run(process.execPath, ['--input-type=module', '-e', code ?? ''], { env });
    server.close();
    expect(stdout).toBe('Hello');
    expect(received).toEqual([{ body, headers: expect.objectContaining({ 'x-user-id': 'a', authorization: 'Bearer sk-test' }) }]);
  });

  test.each([
    ['embed', '/embeddings', { model: 'm', input: ['a', 'b'] }, '    input=["a", "b"],\n)'],
    ['rerank', '/rerank', { model: 'm', query: 'q', documents: ['a'] }, '        "documents": ["a"],\n    },\n)'],
  ] as const)('calls the path of a model that can %s, with its fields', (task, path, fields, python) => {
    const code = new Map(snippetsOf({ task, baseUrl: 'https://api.example.com/v1', body: fields }));
    expect(code.get('curl')).toContain(`curl 'https://api.example.com/v1${path}'`);
    expect(code.get('curl')).toContain(JSON.stringify(fields));
    expect(code.get('Python')).toContain(python);
    expect(code.get('JavaScript')).toContain(task === 'embed' ? 'client.embeddings.create({' : "client.post('/rerank', {\n  body: {");
  });

  test('reads the secret from a variable in each language', () => {
    expect([...snippets.values()].map((code) => code.includes('API_KEY'))).toEqual([true, true, true]);
  });
});
