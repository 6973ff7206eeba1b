import type { ReplyHeader } from '../../../shared/http/reply-headers.ts';

const text = (description: string, example: string) => ({ description, schema: { type: 'string' }, example });
const number = (description: string, example: number) => ({ description, schema: { type: 'integer' }, example });

/** Reply headers by name; `version-etag` is the ETag of a resource, which means something else than that of a file. */
export const replyHeaders = {
  'x-request-id': text('The id of the request, as in the logs. Include it when you report a problem.', 'req_VbdBUPc8fK2mQx0ZpLw4RtYvB'),
  'request-id': text('The same id, under the name that clients of the Messages API read.', 'req_VbdBUPc8fK2mQx0ZpLw4RtYvB'),
  'x-ratelimit-limit-requests': number('The maximum number of requests per minute for this key.', 600),
  'x-ratelimit-remaining-requests': number('The number of requests that are left now.', 599),
  'x-ratelimit-reset-requests': text('The time until the full limit is available again if no more requests are sent.', '1m2.5s'),
  'x-ratelimit-limit-tokens': number('The maximum number of tokens per minute for this key, prompts and answers together.', 200_000),
  'x-ratelimit-remaining-tokens': number('The number of tokens that are left now.', 198_900),
  'x-ratelimit-reset-tokens': text('The time until the full limit is available again if no more requests are sent.', '1m2.5s'),
  'x-sluice-ignored': text('The fields of the request that were accepted but have no effect on this model.', 'typical_p, my_property'),
  'x-sluice-fallback': number(
    'Another model answered: the number of that fallback, from 1. The `model` of the body is its name. Replays under an idempotency key have it too.',
    1,
  ),
  'x-sluice-idempotency': text('`not-stored`: a request with the same idempotency key will not return this result.', 'not-stored'),
  'idempotent-replayed': text('`true`: this is the stored result of an earlier request with the same idempotency key.', 'true'),
  'x-sluice-original-request-id': text('The id of the request that was charged for the stored result.', 'req_VbdBUPc50HcB9NR26VgsplBDO'),
  'retry-after': number('The number of seconds to wait before you retry.', 2),
  'retry-after-ms': number('The number of milliseconds to wait before you retry.', 1_480),
  'x-should-retry': text('`false`: retrying the same request will not help.', 'false'),
  deprecation: text('The time from which the model should not be used for anything new (RFC 9745). Unix time in seconds.', '@1795219200'),
  sunset: text('When the model will be removed (RFC 8594).', 'Mon, 22 Mar 2027 00:00:00 GMT'),
  'x-sluice-successor': text('The model to use instead. Characters that are not allowed in a header are percent-encoded.', 'qwen3-8b'),
  etag: text(
    'Changes when the body does. If you send it in `If-None-Match` and the body is unchanged, the response is a 304 without a body.',
    '"3kq0bqvQh5sXoV9a7VJmW1zqT0c"',
  ),
  link: text('The URL of the next part, if there is one (RFC 8288).', '<?format=csv&after=page_WyJ…>; rel="next"'),
  'cache-control': text('How long the response can be cached.', 'public, max-age=30'),
  'www-authenticate': text('The authentication scheme to use.', 'Bearer'),
  'version-etag': text(
    'The version of the resource. If you send it in `If-Match`, a change is made only if nobody else has changed the resource since.',
    '"3"',
  ),
} as const satisfies Record<ReplyHeader | 'version-etag', unknown>;
