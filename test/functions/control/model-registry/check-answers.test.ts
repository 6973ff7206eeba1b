import type { ServerResponse } from 'node:http';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, jest, test } from '@jest/globals';
import type { TargetCheckDependencies } from '../../../../functions/control/model-registry/check-targets.ts';
import type { Model, NewModel } from '../../../../shared/models/model.ts';
import { checksWith, type Fakes, startFakes } from './target-check-fixtures.ts';

let fakes: Fakes;
let lambda: Fakes['lambda'];
let sagemaker: Fakes['sagemaker'];
beforeAll(async () => {
  fakes = await startFakes();
  ({ lambda, sagemaker } = fakes);
});
afterAll(() => fakes.close());
beforeEach(() => {
  jest.spyOn(process.stdout, 'write').mockReturnValue(true);
  sagemaker.reset();
});
afterEach(() => {
  jest.restoreAllMocks();
});

const { check, checkOne } = checksWith(() => fakes.deps);

describe('a container that does not answer as it should', () => {
  const failedDetail = async (other: Partial<TargetCheckDependencies> = {}): Promise<string> => {
    sagemaker.deploy('e');
    const { passed, failed, detail = '' } = await checkOne({ endpoint: 'e' }, other);
    expect({ passed, failed }).toEqual({ passed: ['exists', 'tagged', 'in_service'], failed: 'answers' });
    return detail;
  };

  test('is reported with its own error text', async () => {
    sagemaker.answersError(500, 'CUDA out of memory');
    expect(await failedDetail()).toContain('CUDA out of memory');
  });

  test('is reported without its traceback', async () => {
    sagemaker.answersError(500, 'It broke.\nTraceback (most recent call last):\n  File "/opt/server/secret.py", line 3');
    expect(await failedDetail()).not.toMatch(/secret|line 3/);
    sagemaker.answersError(500, 'Traceback (most recent call last):\n  File "/opt/server/secret.py", line 3');
    expect(await failedDetail()).toMatch(/Received server error \(500\) from primary\. See/);
  });

  test('is reported with its error about the model name', async () => {
    sagemaker.answersError(404, { error: { message: 'The model `inner` does not exist.', code: 404 } });
    expect(await failedDetail()).toMatch(/The model `inner` does not exist.*container_model/);
  });

  test('is reported with its reason for rejecting the request', async () => {
    sagemaker.answersError(400, { error: { message: 'This model has no chat template.' } });
    expect(await failedDetail()).toContain('This model has no chat template.');
  });

  test('is reported with the dialect if it does not understand it', async () => {
    sagemaker.answersError(422, { detail: [{ loc: ['body', 'inputs'], msg: 'Field required' }] });
    expect(await failedDetail()).toContain("dialect 'vllm'");
  });

  test('fails if its answer is incomplete', async () => {
    sagemaker.answers((_request, response) => response.end('data: {"choices":[{"index":0,"delta":{"content":"Hi"}}]}\n\n'));
    expect(await failedDetail()).toContain('ended before it was complete');
  });

  test('fails if it does not answer in time', async () => {
    sagemaker.answers(() => undefined);
    expect(await failedDetail({ probeTimeoutMs: 50 })).toContain('within 0.05 s');
  });
});

describe("a model's own tokenizer", () => {
  const checkTokenizer = async () => {
    sagemaker.deploy('e');
    const { tokenizer, passed } = await check([{ endpoint: 'e' }], { tokenizer: { tokenizer: 'sha256/1/tokenizer.json' } });
    expect(passed).toBe(tokenizer?.passed);
    return tokenizer;
  };

  test('passes when it counts a conversation', async () => {
    lambda.answers((response) => response.end('{"prompt_tokens":7,"kept":null}'));
    expect(await checkTokenizer()).toEqual({ passed: true, detail: expect.stringContaining('7 tokens') });
    expect(JSON.parse(lambda.received[0]?.body ?? '')).toMatchObject({
      operation: 'fit',
      files: { tokenizer: 'sha256/1/tokenizer.json' },
      prompt: { messages: [{ role: 'user' }] },
    });
  });

  test('fails when the container counts the conversation differently', async () => {
    lambda.answers((response) => response.end('{"prompt_tokens":7,"kept":null}'));
    const counting = (tokens: number) => (_: unknown, response: ServerResponse) =>
      void response.end(
        `data: {"choices":[{"index":0,"delta":{"content":"Hi"},"finish_reason":"length"}]}\n\ndata: {"choices":[],"usage":{"prompt_tokens":${tokens},"completion_tokens":1}}\n\ndata: [DONE]\n\n`,
      );
    sagemaker.answers(counting(7));
    expect(await checkTokenizer()).toMatchObject({ passed: true });
    sagemaker.answers(counting(9));
    expect(await checkTokenizer()).toEqual({
      passed: false,
      detail: expect.stringMatching(/counted 7 tokens .* container on 'e' counted 9/),
    });
  });

  test.each([
    ['its template fails', '{"prompt_tokens":null,"kept":null}', 'chat template'],
    ['its template renders nothing', '{"prompt_tokens":0,"kept":null}', 'chat template'],
    ['its template rejects the message', '{"refused":"A system message is needed.","by":"template"}', 'A system message is needed.'],
  ])('fails when %s, and so does the whole model', async (_, answer, words) => {
    lambda.answers((response) => response.end(answer));
    expect(await checkTokenizer()).toEqual({ passed: false, detail: expect.stringContaining(words) });
  });

  test('fails and names the file when a file is invalid', async () => {
    lambda.answers((response) => {
      response.setHeader('x-amz-function-error', 'Unhandled');
      response.end('{"errorType":"Error","errorMessage":"tokenizer.json is not JSON."}');
    });
    expect(await checkTokenizer()).toEqual({ passed: false, detail: expect.stringContaining('tokenizer.json is not JSON.') });
  });

  test('fails and asks for another check when it is unavailable', async () => {
    lambda.answers((response) => response.writeHead(503).end('{}'));
    expect(await checkTokenizer()).toEqual({ passed: false, detail: expect.stringContaining('Check again') });
  });
});

describe('checks with a total timeout', () => {
  const never = new Promise<never>(() => undefined);

  test('fail when it ends, and no other check is started', async () => {
    const described: string[] = [];
    const facts = {
      describe: async ({ endpoint }: Model['targets'][0]) => {
        described.push(endpoint);
        return never;
      },
    };
    const targets: NewModel['targets'] = [{ endpoint: 'a' }, { endpoint: 'b' }, { endpoint: 'c' }, { endpoint: 'd' }, { endpoint: 'e' }];
    const tokenizer = { fit: async () => never, count: async () => never };
    const report = await check(targets, { tokenizer: { tokenizer: 'k' } }, { facts, tokenizer, totalTimeoutMs: 20 });
    expect(report).toMatchObject({ passed: false, tokenizer: { passed: false, detail: expect.stringContaining('timed out') } });
    for (const { checks } of report.targets)
      expect(checks[0]).toMatchObject({ name: 'exists', passed: false, detail: expect.stringContaining('timed out') });
    expect(report.targets.map(({ endpoint }) => endpoint)).toEqual(['a', 'b', 'c', 'd', 'e']);
    expect(described).toEqual(['a', 'b', 'c', 'd']);
  });

  test('pass if they finish in time', async () => {
    sagemaker.deploy('e');
    expect(await check([{ endpoint: 'e' }], {}, { totalTimeoutMs: 25_000 })).toMatchObject({ passed: true });
  });
});
