import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { NewModel } from '../../../shared/models/model.ts';
import { SERVERLESS_POOL } from '../../../shared/models/model-store.ts';
import type { UsageEvent } from '../../../shared/usage/event.ts';
import { agentBinary } from '../../support/clients/agent-binaries.ts';
import type { TestRun } from '../../support/clients/local-run.ts';
import type { Walk } from '../../support/clients/walk-through.ts';
import type { ScriptedContainer, ScriptedRequest } from '../../support/emulators/scripted-container.ts';
import { forgetModels } from '../../support/faults/fault-table/new-environments.ts';
import { SMALL, scripted } from './run.ts';

const ROOT = path.join(import.meta.dirname, '../../..');
const TIMEOUT_MS = 240_000;
const ORGANIZATION = 'org_test';

interface Printed {
  result: string;
  session_id: string;
  is_error: boolean;
  num_turns: number;
  usage: { input_tokens: number; cache_read_input_tokens: number; output_tokens: number };
}

const TOO_LONG = "This model's maximum context length is 4096 tokens. However, your request has 12000 input tokens.";

const program = await agentBinary('claude-code-2.1.331');

(program ? describe : describe.skip)('Claude Code', () => {
  let container: ScriptedContainer;
  let walk: Walk;
  let run: TestRun;
  let home: string;
  let project: string;
  beforeAll(async () => {
    ({ container, walk } = await scripted.start());
    run = walk.run;
    home = mkdtempSync(path.join(tmpdir(), 'sluice-claude-'));
    project = path.join(home, 'project');
    mkdirSync(project);
  });
  afterAll(() => {
    rmSync(home, { recursive: true, force: true });
  });

  // It may run as root, asks nobody but Sluice, and gives up soon.
  const bounds = { IS_SANDBOX: '1', CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1', CLAUDE_CODE_MAX_RETRIES: '2' };

  const connection = (secret: string): Record<string, string> => ({
    ANTHROPIC_BASE_URL: run.base_url,
    ANTHROPIC_AUTH_TOKEN: secret,
    ANTHROPIC_MODEL: run.model,
  });

  // Nothing of the environment of the tests reaches it.
  const claude = (variables: Record<string, string>, ...args: string[]): Promise<Printed> =>
    new Promise((resolve, reject) => {
      const env = { HOME: home, PATH: process.env.PATH, ...bounds, ...variables };
      const options = { env, cwd: project, timeout: TIMEOUT_MS };
      const child = execFile(program as string, ['-p', ...args, '--output-format', 'json'], options, (error, stdout, stderr) => {
        try {
          resolve(JSON.parse(stdout) as Printed);
        } catch {
          reject(new Error(`Claude Code printed no JSON:\n${stdout}\n${stderr}`, { cause: error }));
        }
      });
      child.stdin?.end();
    });

  const promptOf = ({ messages, tools }: ScriptedRequest): string => JSON.stringify({ tools, messages });

  // The brackets that close the list of messages are not compared.
  const expectEachToExtend = (requests: readonly ScriptedRequest[]): void => {
    const prompts = requests.map(promptOf);
    for (const [i, prompt] of prompts.slice(1).entries()) expect(prompt.startsWith(prompts[i]?.slice(0, -2) as string)).toBe(true);
  };

  const sumOf = (events: readonly UsageEvent[], field: 'prompt_tokens' | 'completion_tokens'): number =>
    events.reduce((sum, event) => sum + event[field], 0);

  const lastOf = ({ messages }: ScriptedRequest) => messages.at(-1);

  test('is told of a broken tool input, and runs tools on a file; each prompt extends the one before', async () => {
    const { secret, key_id: keyId } = await run.createKey();
    const file = path.join(project, 'notes.txt');
    container.play(
      { calls: [{ name: 'Read', arguments: '{"file_path": ' }] },
      { text: 'I write it.', calls: [{ name: 'Write', arguments: { file_path: file, content: 'One\nTwo\n' } }] },
      { calls: [{ name: 'Edit', arguments: { file_path: file, old_string: 'Two', new_string: 'Three' } }] },
      { reasoning: 'Is it so?', calls: [{ name: 'Read', arguments: { file_path: file } }] },
      (request) => ({ text: `It says: ${JSON.stringify(lastOf(request))}` }),
    );
    const printed = await claude(connection(secret), 'Write notes.', '--permission-mode', 'acceptEdits');
    expect(printed.is_error).toBe(false);
    expect(printed.result).toMatch(/^It says: .*"tool".*Three/);
    expect(readFileSync(file, 'utf8')).toBe('One\nThree\n');
    expect(container.requests).toHaveLength(5);
    expect(JSON.stringify(lastOf(container.requests[1] as ScriptedRequest))).toContain('Error: ');
    expectEachToExtend(container.requests);
    const events = await run.eventsOf(keyId);
    expect(events.map(({ outcome }) => outcome)).toEqual(Array(5).fill('completed'));
    expect(printed.usage.input_tokens + printed.usage.cache_read_input_tokens).toBe(sumOf(events, 'prompt_tokens'));
  });

  test('resumes a session with a prompt that begins with the one before (bug 21)', async () => {
    const { secret, key_id: keyId } = await run.createKey();
    container.play({ text: 'A gate.' }, { text: 'A chamber.' });
    const first = await claude(connection(secret), 'What is a sluice?');
    const second = await claude(connection(secret), 'And a lock?', '--resume', first.session_id);
    expect(second).toMatchObject({ result: 'A chamber.', session_id: first.session_id });
    expectEachToExtend(container.requests);
    expect(await run.eventsOf(keyId)).toHaveLength(2);
  });

  describe('with a prompt that does not fit the window', () => {
    test('says so and pays nothing, if Sluice counts it', async () => {
      const { secret, key_id: keyId } = await run.createKey();
      container.play();
      const printed = await claude({ ...connection(secret), ANTHROPIC_MODEL: SMALL }, 'Hello');
      expect(printed).toMatchObject({ is_error: true, result: expect.stringMatching(/^Prompt is too long/) });
      expect(container.requests).toEqual([]);
      expect(await run.eventsOf(keyId)).toEqual([expect.objectContaining({ error_code: 'context_length_exceeded', cost_nanos: 0n })]);
    });

    test('summarizes a conversation that has become too long, and goes on', async () => {
      const { secret, key_id: keyId } = await run.createKey();
      container.play({ text: 'A long answer. '.repeat(1_000) }, { text: 'A longer answer. '.repeat(1_000) });
      const { session_id: session } = await claude(connection(secret), 'One');
      await claude(connection(secret), 'Two', '--resume', session);
      container.play({ status: 400, message: TOO_LONG }, { text: '<summary>All that was said.</summary>' }, { text: 'On it goes.' });
      expect(await claude(connection(secret), 'Three', '--resume', session)).toMatchObject({ is_error: false, result: 'On it goes.' });
      expect(JSON.stringify(container.requests.at(-1)?.messages)).toContain('All that was said.');
      const outcomes = (await run.eventsOf(keyId)).map(({ outcome }) => outcome);
      expect(outcomes.toSorted()).toEqual(['completed', 'completed', 'completed', 'completed', 'upstream_failed']);
    });

    test('says so and pays nothing, if the runtime refuses it', async () => {
      const { secret, key_id: keyId } = await run.createKey();
      container.play(...Array.from({ length: 12 }, () => ({ status: 400, message: TOO_LONG })));
      const printed = await claude(connection(secret), 'Hello');
      expect(printed).toMatchObject({ is_error: true, result: expect.stringMatching(/^Prompt is too long/) });
      expect(container.requests.length).toBeLessThanOrEqual(6);
      expect((await run.eventsOf(keyId)).every(({ cost_nanos: cost }) => cost === 0n)).toBe(true);
    });
  });

  test('fails at once if the budget of the key is spent', async () => {
    const { secret, key_id: keyId } = await run.createKey({ total_budget_nanos: 1n });
    container.play();
    const printed = await claude(connection(secret), 'Hello');
    expect(printed).toMatchObject({ is_error: true, result: expect.stringContaining('402') });
    expect(container.requests).toEqual([]);
    expect(await refusalsOf(keyId)).toHaveLength(1);
  });

  const refusalsOf = async (keyId: string): Promise<string[]> =>
    (await run.logOf('inference')).split('\n').filter((line) => line.includes('refused') && line.includes(keyId));

  describe('with a runtime that dies in mid-stream', () => {
    const broken = { reasoning: 'A thought that comes to its end.', text: 'A text that does not.', chunkDelayMs: 100 };

    test('asks for the rest three times after a thought, and each request is charged', async () => {
      const { secret, key_id: keyId } = await run.createKey();
      container.play(...Array.from({ length: 6 }, () => ({ ...broken, diesAfterChunks: 4 })));
      const printed = await claude(connection(secret), 'Hello');
      expect(printed).toMatchObject({ is_error: true, result: expect.stringMatching(/^API Error: Server error mid-response/) });
      const events = await run.eventsOf(keyId);
      expect(events).toHaveLength(4);
      for (const event of events) expect(event).toMatchObject({ outcome: 'upstream_failed', source: 'estimated' });
      expect(events.every(({ cost_nanos: cost }) => cost > 0n)).toBe(true);
    });

    test('repeats the request without streaming before the end of a block', async () => {
      const { secret, key_id: keyId } = await run.createKey();
      container.play({ ...broken, diesAfterChunks: 2 }, { text: 'Here it is.' });
      expect(await claude(connection(secret), 'Hello')).toMatchObject({ is_error: false, result: 'Here it is.' });
      const events = (await run.eventsOf(keyId)).map(({ outcome, stream }) => ({ outcome, stream }));
      expect(events).toHaveLength(2);
      expect(events).toEqual(
        expect.arrayContaining([
          { outcome: 'upstream_failed', stream: true },
          { outcome: 'completed', stream: false },
        ]),
      );
    });
  });

  test.each([['ANTHROPIC_AUTH_TOKEN'], ['ANTHROPIC_API_KEY']])(
    'gets an answer to its first request, charged once, by a settings file with %s',
    async (name) => {
      const { secret, key_id: keyId } = await run.createKey();
      const own = mkdtempSync(path.join(home, 'settings-'));
      const { ANTHROPIC_AUTH_TOKEN: key, ...others } = connection(secret);
      mkdirSync(path.join(own, '.claude'));
      writeFileSync(path.join(own, '.claude/settings.json'), JSON.stringify({ env: { ...others, [name]: key } }));
      container.play({ reasoning: 'A gate, then.', text: 'A sluice is a gate.' });
      const { result, is_error: isError, usage } = await claude({ HOME: own }, 'What is a sluice?');
      expect({ result, isError }).toEqual({ result: 'A sluice is a gate.', isError: false });
      expect(container.requests).toHaveLength(1);
      expect(JSON.stringify(container.requests)).not.toContain('x-anthropic-billing-header');
      const events = await run.eventsOf(keyId);
      expect(events).toEqual([expect.objectContaining({ outcome: 'completed', source: 'runtime', model: run.model })]);
      expect(usage.input_tokens + usage.cache_read_input_tokens).toBe(sumOf(events, 'prompt_tokens'));
      expect(usage.output_tokens).toBe(sumOf(events, 'completion_tokens'));
    },
  );

  test('works on the on-demand host with the user that its custom header names', async () => {
    await run.models.put(ORGANIZATION, (await run.models.get(SERVERLESS_POOL, run.model)) as NewModel);
    const { secret, key_id: keyId } = await run.createKey({ org: ORGANIZATION, scope: 'on_demand' });
    container.play({ text: 'Yours alone.' });
    const variables = {
      ...connection(secret),
      ANTHROPIC_BASE_URL: run.ondemand_url as string,
      ANTHROPIC_CUSTOM_HEADERS: 'X-User-Id: 3f1c2f0e-0d0f-4a57-9a57-3f5a4f3c9b11',
    };
    expect(await claude(variables, 'Hello')).toMatchObject({ result: 'Yours alone.', is_error: false });
    expect(await run.eventsOf(keyId)).toHaveLength(1);
  });

  test('does what docs/claude-code.md shows', async () => {
    await forgetModels(run);
    container.play(...Array.from({ length: 12 }, () => ({ text: 'A sluice is a gate that lets water through.' })));
    const foreign = Object.keys(process.env).filter((name) => /^(?:ANTHROPIC|CLAUDE)/.test(name));
    const variables = {
      ...Object.fromEntries(foreign.map((name) => [name, undefined])),
      ...bounds,
      HOME: mkdtempSync(path.join(home, 'reader-')),
      PATH: `${path.dirname(program as string)}:${process.env.PATH}`,
    };
    expect(await walk.follow(path.join(ROOT, 'docs/claude-code.md'), variables)).toBeGreaterThan(2);
  });
});
