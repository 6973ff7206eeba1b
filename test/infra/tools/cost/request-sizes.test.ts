import { readFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { LOG_BYTES, REPLY_BYTES, REQUEST_LINE } from '../../../../infra/tools/cost/measured.ts';
import { replyBytes } from '../../../../infra/tools/cost/usage.ts';
import { shareTestRun, type TestRun } from '../../../support/clients/local-run.ts';
import { eventually } from '../../../support/eventually.ts';

// Headers, and longer names of models.
const BESIDES_BODY = 2_000;

let run: TestRun;
let authorization: string;
beforeAll(async () => {
  run = await shareTestRun();
  const { secret } = await run.createKey();
  authorization = `Bearer ${secret}`;
});
afterAll(() => run.close());

const ask = async (isStreamed: boolean): Promise<{ requestId: string; body: string }> => {
  const body = {
    model: 'sluice-tiny',
    stream: isStreamed,
    max_tokens: 100,
    messages: [{ role: 'user', content: 'Tell me about rivers.' }],
  };
  const reply = await fetch(`${run.base_url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  return { requestId: reply.headers.get('x-request-id') ?? '', body: await reply.text() };
};

const lineOf = async (requestId: string): Promise<string> => {
  const find = (): string | undefined =>
    readFileSync(path.join(run.state, 'logs', 'inference.log'), 'utf8')
      .split('\n')
      .find((line) => line.includes(`"message":"request","request_id":"${requestId}"`) && line.endsWith('}'));
  await eventually(async () => find() !== undefined, `the log line of ${requestId}`);
  return find() as string;
};

test.each([true, false])('the model of costs knows the sizes of a reply and of its log line (streamed: %p)', async (isStreamed) => {
  const { requestId, body } = await ask(isStreamed);
  const text = await lineOf(requestId);
  const line = JSON.parse(text);
  const expected = Number(replyBytes({ completionTokens: BigInt(line.completion_tokens), isStreamed }, REPLY_BYTES));
  expect(body.length).toBeLessThanOrEqual(expected);
  expect(body.length + BESIDES_BODY).toBeGreaterThan(expected);
  expect(text.length).toBeLessThanOrEqual(LOG_BYTES.request);
  expect(text.length).toBeGreaterThan(LOG_BYTES.request / 2);
  expect(Object.keys(line)).toEqual(expect.arrayContaining(Object.keys(REQUEST_LINE)));
});
