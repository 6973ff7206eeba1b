import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { runProgram } from '../../support/run-program.ts';
import { type Container, createAsk } from './ask.ts';
import { repeats } from './checks/sampling.ts';
import { type Answer, say, startFakeContainer } from './fake-container.ts';
import { conformance } from './main.ts';
import { measure, type Row, rows, treatmentOf } from './measure.ts';
import { OWN_MODELS, startOwnContainer } from './own-container.ts';
import { ContainerGone } from './post.ts';
import { textOf } from './verdict.ts';

let server: Awaited<ReturnType<typeof startFakeContainer>> | undefined;
afterEach(async () => {
  await server?.close();
  server = undefined;
});

const run = (...parameters: string[]) => runProgram(conformance, parameters, process.env);

const serve = async (answer: Answer): Promise<string> => {
  server = await startFakeContainer(answer);
  return server.url;
};

describe('a container that ignores a field', () => {
  /** Values that request the default behavior, so that ignoring them is correct. */
  const DEFAULTS = new Set(['response_format: text', 'tool_choice: auto']);
  /** The names under which a row is sent, where they are neither its own name nor that of the dialect's table. */
  const SENT_AS: Record<string, string[]> = {
    'top_p: 0': ['top_k'],
    reasoning_effort: ['reasoning_effort', 'thinking_token_budget'],
    thinking: ['chat_template_kwargs', 'thinking_token_budget'],
  };
  const isSent = ({ field }: Row): boolean => field === 'max_tokens' || /passed|renamed/.test(treatmentOf(field, 'sluice').how);
  const sent = rows.filter((row) => isSent(row) && !DEFAULTS.has(row.label));
  let own: Awaited<ReturnType<typeof startOwnContainer>>;
  beforeAll(async () => {
    own = await startOwnContainer();
  });
  afterAll(() => own.close());

  test.each(sent.map((row) => [row.label, row] as const))('is not reported to support %s', async (label, row) => {
    const names = SENT_AS[label] ?? SENT_AS[row.field] ?? [treatmentOf(row.field, 'sluice').to ?? row.field];
    const url = await serve(async (response, text) => {
      const body = JSON.parse(text);
      for (const name of names) delete body[name];
      const answer = await fetch(`${own.url}/invocations`, { method: 'POST', body: JSON.stringify(body) });
      response.writeHead(answer.status).end(await answer.text());
    });
    const ask = createAsk({ url, dialect: 'sluice', models: OWN_MODELS, timeoutMs: 5_000 });
    const [verdict] = await measure(ask, 'sluice', undefined, [row]);
    expect(verdict?.result).toMatch(/fails|accepted|not shown/);
  });
});

describe('a broken container', () => {
  const verdictsOf = async (url: string, more: Partial<Container> = {}): Promise<Map<string, string>> => {
    const models = { plain: '', thinking: '' };
    const verdicts = await measure(createAsk({ url, dialect: 'vllm', models, timeoutMs: 5_000, ...more }), 'vllm');
    return new Map(rows.map(({ label }, index) => [label, verdicts[index] ? textOf(verdicts[index]) : '']));
  };

  test('fails for every field that is sent to it, and for no other, if it always returns 500', async () => {
    const verdicts = await verdictsOf(await serve((response) => void response.writeHead(500).end('{"error":{"message":"out of memory"}}')));
    expect(verdicts.get('max_tokens')).toBe('fails: HTTP 500: out of memory');
    expect(verdicts.get('user')).toBe('done by Sluice');
    expect(verdicts.get('typical_p')).toBe('ignored, named in x-sluice-ignored');
    expect(verdicts.get('raw_output')).toBe('400');
    const tested = [...verdicts.values()].filter((text) => text === 'works' || text.startsWith('accepted'));
    expect(tested).toEqual([]);
  });

  test('fails if it does not answer with a stream', async () => {
    const verdicts = await verdictsOf(await serve((response) => void response.end('<html>Welcome</html>')));
    expect(verdicts.get('temperature')).toBe('fails: The stream ended before it was complete: 0 of 1 choices had finished.');
  });

  test('fails for max_tokens, n and stop and works for others if it ignores these fields', async () => {
    const verdicts = await verdictsOf(await serve((response) => say(response, 30)));
    expect(verdicts.get('max_tokens')).toBe('fails: 30 tokens, but the request allows at most 5');
    expect(verdicts.get('max_completion_tokens')).toBe('fails: 30 tokens, but the request allows at most 5');
    expect(verdicts.get('n')).toMatch(/^fails: /);
    expect(verdicts.get('temperature')).toBe('fails: has no effect');
    expect(verdicts.get('seed')).toBe('fails: every seed gives the same answer');
    expect(verdicts.get('tool_choice: required')).toBe('fails: no tool was called');
    expect(verdicts.get('stream')).toBe('works');
    expect(verdicts.get('messages')).toBe('works');
  });

  test('is quoted if it rejects a field', async () => {
    const words = '{"object":"error","message":"top_k is not for this model","code":400}';
    const verdicts = await verdictsOf(await serve((response) => void response.writeHead(400).end(words)));
    expect(verdicts.get('top_k')).toBe('refused by the container: top_k is not for this model');
  });

  test('causes exit code 2 if it rejects every request', async () => {
    const url = await serve((response) => void response.writeHead(400).end('{"error":{"message":"no","code":400}}'));
    expect((await run('--container', url)).code).toBe(2);
  });

  test('does not fail if its answers can’t show an effect', async () => {
    const verdicts = await verdictsOf(await serve((response) => say(response, 30, { finish_reason: 'length' })));
    for (const field of ['presence_penalty', 'frequency_penalty', 'repetition_penalty'])
      expect(verdicts.get(field)).toBe('not shown: the answer repeats no word');
    expect(verdicts.get('response_format: json_object')).toBe('not shown: the JSON object was cut off');
  });

  test('gets its requests at /v1/chat/completions without /invocations', async () => {
    const paths = new Set<string | undefined>();
    const url = await serve((response, _, request) => {
      paths.add(request.url);
      if (request.url === '/v1/chat/completions') say(response, 3);
      else response.writeHead(404).end();
    });
    expect((await verdictsOf(url)).get('messages')).toBe('works');
    expect([...paths]).toEqual(['/invocations', '/v1/chat/completions']);
  });

  test('is given up after the timeout if it never answers', async () => {
    const silent = await serve(() => {});
    await expect(verdictsOf(silent, { timeoutMs: 50 })).rejects.toThrow(ContainerGone);
  });

  test('is reported in one sentence, with exit code 1, if it is not running', async () => {
    const url = await serve(() => {});
    await server?.close();
    server = undefined;
    const { code, stderr } = await run('--container', url);
    expect(stderr).toBe(`${url}: there is no container (ECONNREFUSED)\n`);
    expect(code).toBe(1);
  });

  test('causes exit code 2 if a field fails', async () => {
    const { code, stdout } = await run('--container', await serve((response) => say(response, 30)), '--path', '/any');
    expect(stdout).toMatch(/^max_tokens +fails: 30 tokens/m);
    expect(code).toBe(2);
  });
});

test('repeats() returns the share of words that occurred before', () => {
  expect(repeats('The river, the river and the sea')).toBeCloseTo(3 / 7);
  expect(repeats('…')).toBe(0);
});
