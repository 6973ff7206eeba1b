import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { interpret } from '../../infra/assembly/interpret.ts';
import { readAssembly } from '../../infra/assembly/read-assembly.ts';
import { synthesizeWith } from '../support/assembly/assembly.ts';
import { bundleFiles } from '../support/assembly/bundle-files.ts';
import { startTestRun, type TestRun } from '../support/clients/local-run.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const folder = temporaryFolder();
let run: TestRun;
let key: Awaited<ReturnType<TestRun['createKey']>>;

beforeAll(async () => {
  await synthesizeWith({ requestClient: 'sdk' }, folder.path);
  run = await startTestRun('--assembly', folder.path);
  key = await run.createKey({ requests_per_minute: 60, tokens_per_minute: 100_000, concurrency: 4 });
});
afterAll(async () => {
  await run.close();
  await folder[Symbol.asyncDispose]();
});

const chat = (changes: object = {}) =>
  fetch(`${run.base_url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key.secret}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: run.model, max_tokens: 12, messages: [{ role: 'user', content: 'Tell me about rivers.' }], ...changes }),
  });

const eventOf = async (id: string) => (await run.eventsOf(key.key_id)).find(({ request_id }) => request_id === id);

const bundledSdkPackages = async (name: string): Promise<string[]> => {
  const { functions } = interpret(await readAssembly(folder.path));
  const fn = functions.find(({ shortName }) => shortName === name);
  if (!fn) throw new Error(`There is no function ${name}.`);
  const sources = bundleFiles(fn).start.flatMap(
    (file) => (JSON.parse(readFileSync(`${file}.map`, 'utf8')) as { sources: string[] }).sources,
  );
  return [...new Set(sources.flatMap((source) => /@aws-sdk\/client-[a-z-]+/.exec(source) ?? []))].sort();
};

describe("with requestClient: 'sdk'", () => {
  test('a chat completion is answered, and charged once', async () => {
    const response = await chat();
    const body = (await response.json()) as { choices: { message: { content: string } }[]; usage: { completion_tokens: number } };
    expect(response.status).toBe(200);
    expect(body.choices[0]?.message.content.length).toBeGreaterThan(0);
    expect(await eventOf(response.headers.get('x-request-id') as string)).toMatchObject({
      outcome: 'completed',
      completion_tokens: body.usage.completion_tokens,
    });
  });

  test('a streamed one is, too', async () => {
    const response = await chat({ stream: true, stream_options: { include_usage: true } });
    const events = (await response.text()).trim().split('\n\n');
    expect(response.status).toBe(200);
    expect(events.at(-1)).toBe('data: [DONE]');
    const usage = JSON.parse((events.at(-2) as string).slice('data: '.length)).usage;
    expect(await eventOf(response.headers.get('x-request-id') as string)).toMatchObject({
      outcome: 'completed',
      completion_tokens: usage.completion_tokens,
    });
  });

  test('a request over the limits of its key is rejected', async () => {
    const narrow = await run.createKey({ requests_per_minute: 1, tokens_per_minute: 100_000, concurrency: 1 });
    const send = () =>
      fetch(`${run.base_url}/v1/chat/completions`, {
        method: 'POST',
        headers: { authorization: `Bearer ${narrow.secret}`, 'content-type': 'application/json' },
        body: JSON.stringify({ model: run.model, max_tokens: 2, messages: [{ role: 'user', content: 'Hi' }] }),
      });
    expect([(await send()).status, (await send()).status]).toEqual([200, 429]);
  });

  test('inference has the SDK’s clients of the three services, and catalog has none', async () => {
    const clients = ['@aws-sdk/client-dynamodb', '@aws-sdk/client-lambda', '@aws-sdk/client-sagemaker-runtime'];
    for (const name of ['inference', 'ondemand-inference']) expect(await bundledSdkPackages(name)).toEqual(clients);
    expect(await bundledSdkPackages('catalog')).toEqual([]);
  });
});
