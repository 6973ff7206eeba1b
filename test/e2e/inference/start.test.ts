import { expect, test } from '@jest/globals';
import OpenAI from 'openai';
import { eventually } from '../../support/eventually.ts';
import { startDurableRun, startTestRun } from '../../support/local-run.ts';

const ask = { model: 'sluice-tiny', messages: [{ role: 'user' as const, content: 'Hello' }], max_tokens: 1 };

test('npm start keeps the demo key, its limits and its usage over a restart, and ends with code 0 on SIGTERM', async () => {
  await using first = await startDurableRun();
  expect(first.output).toContain(first.base_url);
  expect(first.output).toContain(first.api_key);
  await new OpenAI({ apiKey: first.api_key, baseURL: `${first.base_url}/v1` }).chat.completions.create(ask);
  expect(await first.stop()).toBe(0);

  await using second = await startDurableRun(first.state);
  expect(second.api_key).toBe(first.api_key);
  await new OpenAI({ apiKey: second.api_key, baseURL: `${second.base_url}/v1` }).chat.completions.create(ask);
  expect(await second.eventsOf(`key_${second.api_key.slice(4, 22)}`)).toHaveLength(2);
  expect(await second.close()).toBe(0);
});

test('npm start prints a curl command that streams as pasted', async () => {
  await using run = await startTestRun();
  const body = /-d '(.*)'/.exec(run.output)?.[1] as string;
  const url = /curl -N (\S+)/.exec(run.output)?.[1] as string;
  const authorization = /'authorization: ([^']+)'/.exec(run.output)?.[1] as string;
  const response = await fetch(url, { method: 'POST', body, headers: { authorization, 'content-type': 'application/json' } });
  const events = (await response.text()).trim().split('\n\n');
  expect(events.length).toBeGreaterThan(4);
  expect(events.at(-1)).toBe('data: [DONE]');
});

test('--stop-on-disconnect stops the model when the caller disconnects, and bills what was delivered', async () => {
  await using run = await startTestRun('--stop-on-disconnect');
  // Slow enough for a busy machine to notice in time that the caller has left.
  await run.control('container', { token_delay_ms: 200 });
  const { secret, key_id } = await run.createKey();
  const client = new OpenAI({ apiKey: secret, baseURL: `${run.base_url}/v1` });
  const stream = await client.chat.completions.create({
    ...ask,
    messages: [{ role: 'user', content: 'Tell me about rivers.' }],
    max_tokens: 4_000,
    temperature: 1,
    seed: 3,
    stream: true,
  });
  for await (const chunk of stream) if (chunk.choices[0]?.delta.content) break;
  await eventually(async () => (await run.eventsOf(key_id)).length > 0, 'the request is settled');
  expect(await run.eventsOf(key_id)).toEqual([expect.objectContaining({ outcome: 'client_closed', source: 'estimated' })]);
  expect((await run.limiters.whole(key_id))?.fl).toEqual({});

  // The same before the first token.
  const container = run.pids.container as number;
  process.kill(container, 'SIGSTOP');
  const leaving = new AbortController();
  const call = client.chat.completions.create({ ...ask, stream: true }, { signal: leaving.signal });
  await eventually(async () => Object.keys((await run.limiters.whole(key_id))?.fl ?? {}).length === 1, 'the request is in flight');
  leaving.abort();
  await expect(call).rejects.toThrow();
  process.kill(container, 'SIGCONT');
  await eventually(async () => (await run.eventsOf(key_id)).length === 2, 'the second request is settled');
  // The event is written before the release.
  await eventually(async () => Object.keys((await run.limiters.whole(key_id))?.fl ?? {}).length === 0, 'nothing is in flight');
});

test('--container uses another OpenAI-compatible server under the published model name', async () => {
  await using foreign = await startTestRun();
  await using run = await startTestRun('--container', foreign.container_url);
  const { choices, model } = await new OpenAI({ apiKey: run.api_key, baseURL: `${run.base_url}/v1` }).chat.completions.create(ask);
  expect(model).toBe('sluice-tiny');
  expect(choices[0]?.message.content).not.toBe('');
});

test('--container reports in one line that no server is there', async () => {
  await expect(startTestRun('--container', 'http://127.0.0.1:1')).rejects.toThrow('does not list a model');
});
