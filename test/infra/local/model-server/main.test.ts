import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { chunksOf, control, eventsOf, invoke, question, readUntilEnd } from './fixtures.ts';

const STREAM = { messages: question, temperature: 0, stream: true, max_tokens: 20 };

describe('the process', () => {
  const main = join(import.meta.dirname, '../../../../infra/local/model-server/main.ts');

  const startProcess = async (...flags: string[]) => {
    const child = fork(main, ['--port', '0', '--model', 'forked', '--token-delay-ms', '0', '--window', '512', ...flags], { silent: true });
    const [[ready], [line]] = (await Promise.all([once(child, 'message'), once(child.stdout ?? child, 'data')])) as [
      [{ port: number }],
      [Buffer],
    ];
    expect(JSON.parse(String(line))).toEqual(ready);
    return { child, url: `http://127.0.0.1:${ready.port}`, exit: once(child, 'exit'), close: async () => void child.kill() };
  };

  test.each([
    { flags: [], names: ['forked'] },
    { flags: ['--reasoning-model', 'thinker'], names: ['forked', 'thinker'] },
  ])('reports its port and serves the configured models: $names', async ({ flags, names }) => {
    const started = await startProcess(...flags);
    const models = (await (await fetch(`${started.url}/v1/models`)).json()) as { data: unknown[] };
    expect(models.data).toMatchObject(names.map((id) => ({ id, max_model_len: 512 })));
    started.child.kill();
    await started.exit;
  });

  test('exits before the headers with the fault `die`', async () => {
    const started = await startProcess();
    await control(started, { fault: { kind: 'die' } });
    await expect(invoke(started, STREAM)).rejects.toThrow();
    expect((await started.exit)[0]).toBe(1);
  });

  test('exits with the fault `die` after its tokens arrive', async () => {
    const started = await startProcess();
    await control(started, { fault: { kind: 'die', after_tokens: 5 } });
    const { text, broken } = await readUntilEnd(await invoke(started, STREAM));
    expect(broken).toBe(true);
    expect(chunksOf(eventsOf(text))).toHaveLength(1 + 5);
    expect((await started.exit)[0]).toBe(1);
  });
});
