import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { shareTestRun, type TestRun } from '../../support/clients/local-run.ts';
import { pythonWith } from '../../support/clients/python-clients.ts';

const python = await pythonWith('anthropic==2.13.0');

const PRELUDE = `
import json, os, anthropic
client = anthropic.Anthropic(max_retries=0)
ask = dict(model="sluice-tiny", max_tokens=40, messages=[{"role": "user", "content": "What is a sluice?"}])
def show(value):
    print(json.dumps(value))
def error_of(call):
    try:
        call()
    except anthropic.APIError as error:
        status = getattr(error, "status_code", None)
        return dict(name=type(error).__name__, status=status, body=error.body, request_id=getattr(error, "request_id", None))
    return None
`;

(python ? describe : describe.skip)("Anthropic's client for Python", () => {
  let run: TestRun;
  beforeAll(async () => {
    run = await shareTestRun();
  });
  afterAll(async () => {
    await run.close();
  });

  /** Runs a program that shows one value. */
  const shown = async (program: string, key = run.api_key): Promise<unknown> => {
    const env = { PATH: process.env.PATH, ANTHROPIC_BASE_URL: run.base_url, ANTHROPIC_API_KEY: key };
    const { stdout } = await promisify(execFile)(python as string, ['-c', PRELUDE + program], { env });
    return JSON.parse(stdout);
  };

  test('creates a message', async () => {
    const message = await shown('show(client.messages.create(**ask).to_dict())');
    expect(message).toMatchObject({
      type: 'message',
      role: 'assistant',
      content: [{ type: 'text', text: expect.stringMatching(/\w+ \w+/) }],
    });
  });

  test('streams a message and names its request', async () => {
    const program = `
with client.messages.stream(**ask) as stream:
    text = "".join(stream.text_stream)
    show(dict(text=text, message=stream.get_final_message().to_dict(), request_id=stream.response.headers["request-id"]))
`;
    const { text, message, request_id: requestId } = (await shown(program)) as Record<string, unknown>;
    expect(message).toMatchObject({ content: [{ type: 'text', text }], usage: { output_tokens: expect.any(Number) } });
    expect(requestId).toMatch(/^req_/);
  });

  test('gets thinking and sends it back', async () => {
    const program = `
ask.update(model="sluice-tiny-reasoning", max_tokens=400, thinking={"type": "adaptive"})
first = client.messages.create(**ask)
ask["messages"] += [{"role": "assistant", "content": first.content}, {"role": "user", "content": "And a lock?"}]
show([[block.type for block in message.content] for message in (first, client.messages.create(**ask))])
`;
    expect(await shown(program)).toEqual([
      ['thinking', 'text'],
      ['thinking', 'text'],
    ]);
  });

  test('runs a tool with its own loop', async () => {
    const program = `
from typing import Literal
@anthropic.beta_tool
def get_weather(place: Literal["Delft"]) -> str:
    """The weather of a place."""
    return f"Rain in {place}."
ask["messages"][0]["content"] = "Please use get_weather."
show(client.beta.messages.tool_runner(**ask, tools=[get_weather]).until_done().to_dict())
`;
    expect(JSON.stringify(await shown(program))).toContain('Rain in Delft.');
  });

  test('counts tokens and lists the models', async () => {
    const program = `
del ask["max_tokens"]
show([client.messages.count_tokens(**ask).input_tokens, [model.id for model in client.models.list()]])
`;
    expect(await shown(program)).toEqual([
      expect.any(Number),
      ['sluice-tiny', 'sluice-tiny-embed', 'sluice-tiny-reasoning', 'sluice-tiny-rerank'],
    ]);
  });

  test.each([
    ['AuthenticationError', 401, 'authentication_error', 'client = anthropic.Anthropic(api_key="nonsense", max_retries=0)'],
    ['BadRequestError', 400, 'invalid_request_error', 'ask["max_tokens"] = 0'],
    ['NotFoundError', 404, 'not_found_error', 'ask["model"] = "claude-99"'],
  ])('raises %s', async (name, status, type, change) => {
    expect(await shown(`${change}\nshow(error_of(lambda: client.messages.create(**ask)))`)).toEqual({
      name,
      status,
      body: expect.objectContaining({ type: 'error', error: expect.objectContaining({ type }) }),
      request_id: expect.stringMatching(/^req_/),
    });
  });

  test('raises PaymentRequiredError at once if the budget is spent', async () => {
    const { secret } = await run.createKey({ total_budget_nanos: 1n });
    const program = 'show(error_of(lambda: client.with_options(max_retries=2).messages.create(**ask)))';
    expect(await shown(program, secret)).toMatchObject({ name: 'PaymentRequiredError', status: 402 });
  });

  test('raises an error if a stream breaks off', async () => {
    await run.control('container', { fault: { kind: 'destroy', after_tokens: 5, times: 1 } });
    const program = `
def read():
    with client.messages.stream(**ask) as stream:
        for _ in stream: pass
show(error_of(read))
`;
    expect(await shown(program)).toMatchObject({ body: { type: 'error', error: { type: 'api_error' } } });
    await run.control('container');
  });
});
