import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { agentBinary } from '../../support/clients/agent-binaries.ts';
import { runCodex } from '../../support/clients/codex.ts';
import { patternOf, stepsOf, type Walk } from '../../support/clients/walk-through.ts';
import type { ScriptedContainer, ScriptedRequest } from '../../support/emulators/scripted-container.ts';
import { forgetModels } from '../../support/faults/fault-table/new-environments.ts';
import type { TestKey } from '../../support/fixtures/create-key.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { KNOWN_TO_CODEX, scripted } from './run.ts';

const steps = stepsOf(readFileSync(new URL('../../../docs/codex.md', import.meta.url), 'utf8'));
const MCP_SERVER = path.join(import.meta.dirname, '../../support/clients/mcp-server.ts');
const TIDES = [
  `mcp_servers.tides.command=${JSON.stringify(process.execPath)}`,
  `mcp_servers.tides.args=[${JSON.stringify(MCP_SERVER)}]`,
  'mcp_servers.tides.default_tools_approval_mode="approve"',
];
const PATCH = '*** Begin Patch\n*** Add File: hello.txt\n+Hello\n*** End Patch\n';
const MARK = '=====';

const binary = await agentBinary('codex-0.169.0');
const home = temporaryFolder();
let container: ScriptedContainer;
let walk: Walk;
let printed: string[];
beforeAll(async () => {
  if (!binary) return;
  ({ container, walk } = await scripted.start());
  await forgetModels(walk.run);
  container.play({ text: 'Hello.' }, { text: 'Hello.' });
  // Codex also reads its input to the end.
  const typed = `codex() { command ${binary} "$@" < /dev/null; }\n${steps.map(({ command }) => `${command}\necho; echo ${MARK}\n`).join('')}`;
  printed = (await walk.shell(typed, { HOME: home.path })).split(MARK).map((text) => text.trim());
});
afterAll(async () => {
  await home[Symbol.asyncDispose]();
});

interface Run extends Partial<TestKey> {
  folder?: string;
  profile?: string;
  words?: string[];
}

// With a key of its own, so that its events are those of this run.
const runWith = async (
  overrides: string[] = [],
  { folder = home.path, profile = 'sluice', words = ['Please help.'], ...key }: Run = {},
) => {
  const { key_id, secret } = await walk.run.createKey(key);
  const settings = { binary: binary as string, home: home.path, folder, profile, apiKey: secret };
  const ran = await runCodex(settings, words, ...overrides);
  return { ...ran, failure: ran.events.at(-1)?.error?.message, usage: await walk.run.eventsOf(key_id) };
};

const offeredIn = ({ tools = [] }: ScriptedRequest): string[] => tools.map((tool) => tool.function.name);

// The name that a tool has for the model.
const nameOf = (request: ScriptedRequest, name: string): string =>
  offeredIn(request).find((offered) => offered.includes(name)) ?? `not-offered-${name}`;

const itemsOf = ({ events }: Awaited<ReturnType<typeof runWith>>, type: string) =>
  events.flatMap((event) => (event.type === 'item.completed' && event.item?.type === type ? [event.item] : []));

const lastResult = (): unknown => container.requests.at(-1)?.messages.findLast(({ role }) => role === 'tool')?.content;

(binary ? describe : describe.skip)('Codex', () => {
  test('connects as docs/codex.md says, which shows what it prints', () => {
    for (const [i, { command, printed: shown = '' }] of steps.entries())
      expect({ command, output: printed[i] }).toEqual({ command, output: expect.stringMatching(patternOf(shown)) });
  });

  test('runs a command and sends its output and the reasoning before it back', async () => {
    container.play({ reasoning: 'Try it.', calls: [{ name: 'exec_command', arguments: { cmd: 'echo $((6*7))' } }] }, { text: 'It is 42.' });
    const ran = await runWith();
    expect([ran.code, itemsOf(ran, 'agent_message')]).toEqual([0, [expect.objectContaining({ text: 'It is 42.' })]]);
    expect(itemsOf(ran, 'command_execution')).toMatchObject([{ exit_code: 0, aggregated_output: '42\n' }]);
    expect(lastResult()).toMatch(/Output:\n42\n$/);
    expect(container.requests[1]?.messages).toContainEqual(expect.objectContaining({ role: 'assistant', reasoning: 'Try it.' }));
    expect(ran.usage).toHaveLength(2);
  });

  test('patches a file by apply_patch', async () => {
    await using folder = temporaryFolder();
    container.play((request) => ({ calls: [{ name: nameOf(request, 'apply_patch'), arguments: { input: PATCH } }] }), { text: 'Done.' });
    const ran = await runWith([], { folder: folder.path });
    expect(ran.code).toBe(0);
    expect(readFileSync(path.join(folder.path, 'hello.txt'), 'utf8')).toBe('Hello\n');
    expect(itemsOf(ran, 'file_change')).toMatchObject([{ status: 'completed', changes: [{ kind: 'add' }] }]);
    expect(lastResult()).toContain('Success.');
  });

  test('calls a tool of an MCP server through its namespace', async () => {
    container.play((request) => ({ calls: [{ name: nameOf(request, 'get_tide'), arguments: { harbour: 'Delft' } }] }), { text: 'High.' });
    const ran = await runWith(TIDES);
    expect(itemsOf(ran, 'mcp_tool_call')).toMatchObject([{ server: 'tides', tool: 'get_tide', status: 'completed' }]);
    expect(lastResult()).toContain('High tide in Delft.');
  });

  test('finds a tool of an MCP server by a search under a name that it knows, and calls it', async () => {
    container.play(
      (request) => ({ calls: [{ name: nameOf(request, 'tool_search'), arguments: { query: 'tide' } }] }),
      (request) => ({ calls: [{ name: nameOf(request, 'get_tide'), arguments: { harbour: 'Delft' } }] }),
      { text: 'High.' },
    );
    const ran = await runWith(TIDES, { profile: 'sluice-alias' });
    expect(container.requests.map((request) => offeredIn(request).filter((name) => name.includes('get_tide')).length)).toEqual([0, 1, 1]);
    expect(itemsOf(ran, 'mcp_tool_call')).toMatchObject([{ server: 'tides', tool: 'get_tide', status: 'completed' }]);
    expect(lastResult()).toContain('High tide in Delft.');
  });

  test('gives a task to a sub-agent and gets its answer', async () => {
    const answer = (request: ScriptedRequest) => {
      const { messages } = request;
      if (messages.some(({ role, content }) => role === 'user' && content === 'Count.')) return { text: 'The child counted to 3.' };
      const calls = messages.filter(({ role }) => role === 'tool').map(({ content }) => String(content));
      const agent = calls[0]?.match(/[\da-f]{8}-[\da-f-]{27}/)?.[0];
      if (!agent) return { calls: [{ name: nameOf(request, 'spawn_agent'), arguments: { message: 'Count.' } }] };
      if (calls.length === 1) return { calls: [{ name: nameOf(request, 'wait_agent'), arguments: { targets: [agent] } }] };
      return { text: String(calls[1]) };
    };
    container.play(answer, answer, answer, answer);
    const ran = await runWith();
    expect(itemsOf(ran, 'agent_message').at(-1)?.text).toContain('The child counted to 3.');
    expect(ran.usage).toHaveLength(4);
  });

  test('resumes a session with a prompt that begins with the one before', async () => {
    container.play({ text: 'One.' }, { text: 'Two.' });
    await runWith();
    const ran = await runWith([], { words: ['resume', '--last', 'And then?'] });
    const [first, second] = container.requests.map(({ messages }) => messages);
    expect(itemsOf(ran, 'agent_message')).toMatchObject([{ text: 'Two.' }]);
    expect(second?.slice(0, first?.length)).toEqual(first);
    expect(second?.slice(first?.length)).toMatchObject([
      { role: 'assistant', content: 'One.' },
      { role: 'user', content: 'And then?' },
    ]);
  });

  test('goes on without its web search, which no model here has', async () => {
    container.play({ text: 'Hello.' });
    expect((await runWith(['web_search="cached"'])).code).toBe(0);
    expect(container.requests.flatMap(offeredIn)).toEqual(expect.arrayContaining(['exec_command']));
    expect(container.requests.flatMap(offeredIn)).not.toContain('web_search');
  });

  test('runs the JavaScript of a model whose name it knows as a newer one, which patches a file', async () => {
    await using folder = temporaryFolder();
    const input = `text(await tools.apply_patch(${JSON.stringify(PATCH)}));`;
    container.play((request) => ({ calls: [{ name: nameOf(request, 'exec'), arguments: { input } }] }), { text: 'Done.' });
    await runWith([`model="${KNOWN_TO_CODEX}"`], { folder: folder.path, profile: 'sluice-alias' });
    expect(readFileSync(path.join(folder.path, 'hello.txt'), 'utf8')).toBe('Hello\n');
    expect(lastResult()).toContain('Script completed');
  });

  test('reaches the on-demand host with the header of an end user', async () => {
    container.play({ text: 'Hello.' });
    const { ondemand_url, ondemand_model } = walk.run;
    const provider = [`base_url="${ondemand_url}/v1"`, `http_headers={"X-User-Id"="${randomUUID()}"}`];
    const overrides = [`model="${ondemand_model}"`, ...provider.map((setting) => `model_providers.sluice.${setting}`)];
    const ran = await runWith(overrides, { org: 'org_demo', scope: 'on_demand' });
    expect([ran.code, ran.usage.length]).toEqual([0, 1]);
  });

  test('prints that the window is full, after one request', async () => {
    container.play({ status: 400, message: "This model's maximum context length is 131072 tokens. However, you requested 140000 tokens." });
    const ran = await runWith();
    expect([ran.code, ran.failure, container.requests.length]).toEqual([1, expect.stringContaining('ran out of room'), 1]);
  });

  test('prints that an answer reached the limit of its tokens', async () => {
    container.play({ text: 'This is not', finish: 'length' });
    const ran = await runWith();
    expect([ran.code, ran.failure]).toEqual([1, 'Incomplete response returned, reason: max_output_tokens']);
  });

  test('prints that the quota is exceeded, after one request that reaches no model', async () => {
    container.play();
    const ran = await runWith([], { total_budget_nanos: 0n });
    expect([ran.code, ran.failure, container.requests.length]).toEqual([1, expect.stringContaining('Quota exceeded.'), 0]);
  });

  test('repeats a request whose stream breaks off, and is charged for both', async () => {
    container.play({ text: 'This is the answer that breaks off.', diesAfterChunks: 2 }, { text: 'This is whole.' });
    const ran = await runWith();
    expect([ran.code, itemsOf(ran, 'agent_message')]).toEqual([0, [expect.objectContaining({ text: 'This is whole.' })]]);
    expect(ran.usage).toHaveLength(2);
  });

  test.each([
    ['Sluice', 'its own summary'],
    ['OpenAI', 'a summary of Sluice'],
  ])('goes on with a summary of a long conversation when its provider is called %s: %s', async (provider) => {
    container.play({ calls: [{ name: 'exec_command', arguments: { cmd: 'true' } }] }, { text: 'The summary of all.' }, { text: 'Bye.' });
    const ran = await runWith([`model_providers.sluice.name="${provider}"`, 'model_auto_compact_token_limit=1000']);
    expect([ran.code, itemsOf(ran, 'agent_message')]).toEqual([0, [expect.objectContaining({ text: 'Bye.' })]]);
    expect(JSON.stringify(container.requests[2]?.messages)).toContain('The summary of all.');
  });
});
