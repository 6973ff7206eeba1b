import { describe, expect, test } from '@jest/globals';
import { failureOf } from '../../../console/client/api-failure.ts';
import { jsonOf } from '../../../console/client/fetch-reply.ts';
import { readParts } from '../../../console/client/read-parts.ts';

// A reply whose body ends with an error after its first bytes.
const brokenBy = (error: Error, status = 200): Response =>
  new Response(
    new ReadableStream({
      start(controller) {
        controller.enqueue(new TextEncoder().encode('{"da'));
        controller.error(error);
      },
    }),
    { status },
  );

const LOST = { status: 0, code: 'unreachable', message: expect.stringContaining('Check your connection') };

describe('a connection that is lost within a reply', () => {
  const lost = () => brokenBy(new TypeError('network error'));

  test('is told as one that never came about, and can be tried again', async () => {
    await expect(jsonOf(lost())).rejects.toMatchObject(LOST);
    await expect(failureOf(brokenBy(new TypeError('network error'), 500))).rejects.toMatchObject(LOST);
    await expect(readParts(async () => lost(), { hasHead: true, onPart: () => undefined })).rejects.toMatchObject(LOST);
  });

  test('is no failure if the reader has stopped the request', async () => {
    const stopped = new DOMException('The user aborted a request.', 'AbortError');
    await expect(jsonOf(brokenBy(stopped))).rejects.toBe(stopped);
  });
});
