import { describe, expect, test } from '@jest/globals';
import { serveRoutes } from '../../../functions/inference/serve-routes.ts';
import type { ApiEvent } from '../../../shared/http/api-event.ts';

const clock = { getRemainingTimeInMillis: () => 1_000 };
const answerWith = (name: string) => (path: string) => async () => ({ statusCode: 200, headers: { path }, body: name });
const routes = serveRoutes({
  createChatCompletion: answerWith('chat'),
  createCompletion: answerWith('completion'),
  createEmbeddings: answerWith('vectors'),
  createRerank: answerWith('ranking'),
  createRerankV2: answerWith('ranking'),
  createResponse: answerWith('response'),
  createMessage: answerWith('message'),
  countMessageTokens: answerWith('count'),
  tokenize: answerWith('tokens'),
  detokenize: answerWith('text'),
});
const serve = (resource: string, path: string) => routes({ resource, path } as ApiEvent, clock);

describe('serveRoutes', () => {
  test.each([
    ['/tokenize', '/tokenize', 'tokens'],
    ['/v1/completions', '/v1/completions', 'completion'],
    ['/v1/messages/count_tokens', '/v1/messages/count_tokens', 'count'],
    ['/v2/rerank', '/v2/rerank', 'ranking'],
    ['/tokenize', '/tokenize/', 'tokens'],
    ['/v1/completions', '/base/path/v1/completions', 'completion'],
  ])('serves the resource %s with its own route, even if the path is %s', async (resource, path, expected) => {
    expect(await serve(resource, path)).toEqual({ statusCode: 200, headers: { path: resource }, body: expected });
  });

  test.each(['/other', '/constructor'])('fails for a resource without a route, such as %s', (resource) => {
    expect(() => serve(resource, '/tokenize')).toThrow(`The resource ${resource}`);
  });
});
