import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { shareTestRun, type TestRun } from '../../support/clients/local-run.ts';
import { pythonWith } from '../../support/clients/python-clients.ts';

// Clients ask for versions of each other's packages that exclude one another, so each has its own environment.
const openai = await pythonWith('openai==3.57.0');
const langchain = await pythonWith('langchain-openai==1.7.4');
const agents = await pythonWith('openai-agents==0.24.0');
const pydanticAi = await pythonWith('pydantic-ai-slim[openai]==2.68.0');
const instructor = await pythonWith('instructor==1.17.0');

const PRELUDE = `
import os
from typing import Annotated, Literal, Optional
from pydantic import BaseModel, Field
class Lock(BaseModel):
    name: Literal["Hattem"]
    built: Optional[int]
class Canal(BaseModel):
    kind: Literal["canal"]
    locks: Annotated[list[Lock], Field(min_length=1, max_length=2)]
    twin: Lock
model, question = "sluice-tiny", "Which canal has a lock?"
ask = dict(model=model, messages=[{"role": "user", "content": question}], max_tokens=200)
def show(canal):
    assert isinstance(canal, Canal), canal
    print(canal.model_dump_json())
`;

const OPENAI = `
from openai import OpenAI
client = OpenAI(max_retries=0)
`;
const AGENTS = `
from agents import Agent, AsyncOpenAI, ModelSettings, OpenAIChatCompletionsModel, OpenAIResponsesModel, Runner, set_tracing_disabled
set_tracing_disabled(True)
def answer_with(Model):
    agent = Agent(name="Helper", model=Model(model, AsyncOpenAI()), model_settings=ModelSettings(max_tokens=200), output_type=Canal)
    return Runner.run_sync(agent, question).final_output
`;
const PYDANTIC_AI = `
from pydantic_ai import Agent, NativeOutput
from pydantic_ai.models.openai import OpenAIChatModel, OpenAIResponsesModel
from pydantic_ai.providers.openai import OpenAIProvider
def answer_with(Model, output_type):
    provider = OpenAIProvider(base_url=os.environ["OPENAI_BASE_URL"], api_key=os.environ["OPENAI_API_KEY"])
    agent = Agent(Model(model, provider=provider), output_type=output_type, model_settings=dict(max_tokens=200))
    return agent.run_sync(question).output
`;
const INSTRUCTOR = `
import instructor
from openai import OpenAI
def answer_with(**mode):
    client = instructor.from_openai(OpenAI(max_retries=0), **mode)
    return client.chat.completions.create(**ask, response_model=Canal, max_retries=0)
`;

let run: TestRun;
beforeAll(async () => {
  run = await shareTestRun();
});
afterAll(async () => {
  await run.close();
});

describe.each([
  [
    'the OpenAI client',
    openai,
    OPENAI,
    {
      'a chat completion': 'show(client.chat.completions.parse(**ask, response_format=Canal).choices[0].message.parsed)',
      'a response': 'show(client.responses.parse(model=model, input=question, max_output_tokens=200, text_format=Canal).output_parsed)',
    },
  ],
  [
    'LangChain',
    langchain,
    'from langchain_openai import ChatOpenAI\n',
    {
      'a chat completion': 'show(ChatOpenAI(model=model, max_tokens=200, max_retries=0).with_structured_output(Canal).invoke(question))',
      'a response':
        'show(ChatOpenAI(model=model, max_tokens=200, max_retries=0, use_responses_api=True).with_structured_output(Canal).invoke(question))',
    },
  ],
  [
    'the OpenAI Agents SDK',
    agents,
    AGENTS,
    { 'a chat completion': 'show(answer_with(OpenAIChatCompletionsModel))', 'a response': 'show(answer_with(OpenAIResponsesModel))' },
  ],
  [
    'Pydantic AI',
    pydanticAi,
    PYDANTIC_AI,
    {
      'its default, a call': 'show(answer_with(OpenAIChatModel, Canal))',
      'a chat completion': 'show(answer_with(OpenAIChatModel, NativeOutput(Canal)))',
      'a response': 'show(answer_with(OpenAIResponsesModel, NativeOutput(Canal)))',
    },
  ],
  [
    'Instructor',
    instructor,
    INSTRUCTOR,
    { 'its default, a call': 'show(answer_with())', 'a chat completion': 'show(answer_with(mode=instructor.Mode.JSON_SCHEMA))' },
  ],
] as const)('%s for Python', (_, python, client, programs) => {
  (python ? test : test.skip).each(Object.entries(programs))('parses %s', async (_what, program) => {
    const env = { PATH: process.env.PATH, OPENAI_BASE_URL: `${run.base_url}/v1`, OPENAI_API_KEY: run.api_key };
    const { stdout } = await promisify(execFile)(python as string, ['-c', PRELUDE + client + program], { env });
    const lock = expect.objectContaining({ name: 'Hattem' });
    expect(JSON.parse(stdout)).toEqual({ kind: 'canal', locks: expect.arrayContaining([lock]), twin: lock });
  });
});
