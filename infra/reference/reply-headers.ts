import type { ReplyHeader } from '../../shared/http/reply-headers.ts';

const text = (description: string, example: string) => ({ description, schema: { type: 'string' }, example });
const number = (description: string, example: number) => ({ description, schema: { type: 'integer' }, example });

/** The headers of replies by their names; `version-etag` is the ETag of a resource, which differs from that of a file. */
export const replyHeaders = {
  'x-request-id': text(
    'The id of the request, as it stands in the logs. Quote it when you report a problem.',
    'req_VbdBUPc8fK2mQx0ZpLw4RtYvB',
  ),
  'x-ratelimit-limit-requests': number('The most requests of this key in a minute.', 600),
  'x-ratelimit-remaining-requests': number('How many of them are left now.', 599),
  'x-ratelimit-reset-requests': text('Until all of them are there again, if nothing else is sent.', '1m2.5s'),
  'x-ratelimit-limit-tokens': number('The most tokens of this key in a minute, prompts and answers together.', 200_000),
  'x-ratelimit-remaining-tokens': number('How many of them are left now.', 198_900),
  'x-ratelimit-reset-tokens': text('Until all of them are there again, if nothing else is sent.', '1m2.5s'),
  'x-sluice-ignored': text('The properties of the request that were accepted and have no effect on this model.', 'typical_p, my_property'),
  'x-sluice-idempotency': text('`not-stored`: a request that repeats the idempotency key will not be given this result.', 'not-stored'),
  'idempotent-replayed': text('`true`: this is the result of an earlier request with the same idempotency key.', 'true'),
  'x-sluice-original-request-id': text('The id of that request, which was charged for it.', 'req_VbdBUPc50HcB9NR26VgsplBDO'),
  'retry-after': number('Seconds after which the request may be sent again.', 2),
  'retry-after-ms': number('The same in milliseconds.', 1_480),
  'x-should-retry': text('`false`: sending the same request again will not help.', 'false'),
  deprecation: text('From when on the model should not be used for anything new (RFC 9745): Unix time in seconds.', '@1795219200'),
  sunset: text('When the model is to go (RFC 8594).', 'Mon, 22 Mar 2027 00:00:00 GMT'),
  'x-sluice-successor': text('The model to use instead. What cannot stand in a header is percent-encoded.', 'qwen3-8b'),
  etag: text(
    'Changes when the body does. Sent back in `If-None-Match` it makes the reply a 304 without body.',
    '"3kq0bqvQh5sXoV9a7VJmW1zqT0c"',
  ),
  'cache-control': text('How long the reply may be kept.', 'public, max-age=30'),
  'www-authenticate': text('How a token is sent.', 'Bearer'),
  'version-etag': text(
    'The version of the resource. Sent back in `If-Match`, it lets a change happen only if nobody else made one meanwhile.',
    '"3"',
  ),
} as const satisfies Record<ReplyHeader | 'version-etag', unknown>;
