import { EventStreamCodec } from '@smithy/eventstream-codec';

const codec = new EventStreamCodec(
  (bytes) => Buffer.from(bytes instanceof Uint8Array ? bytes : String(bytes)).toString('utf8'),
  (text) => Buffer.from(text, 'utf8'),
);

const frame = (headers: Record<string, string>, body: Uint8Array): Buffer => {
  const values = Object.entries(headers).map(([name, value]) => [name, { type: 'string' as const, value }] as const);
  return Buffer.from(codec.encode({ headers: Object.fromEntries(values), body }));
};

/** A PayloadPart event of InvokeEndpointWithResponseStream. */
export const payloadPart = (bytes: Uint8Array): Buffer =>
  frame({ ':message-type': 'event', ':event-type': 'PayloadPart', ':content-type': 'application/octet-stream' }, bytes);

/** A modelled exception in the middle of a stream. */
export const exceptionFrame = (type: 'ModelStreamError' | 'InternalStreamFailure', body: Readonly<Record<string, string>>): Buffer =>
  frame({ ':message-type': 'exception', ':exception-type': type, ':content-type': 'application/json' }, Buffer.from(JSON.stringify(body)));

/** An unmodelled error in the middle of a stream. */
export const errorFrame = (code: string, message: string): Buffer =>
  frame({ ':message-type': 'error', ':error-code': code, ':error-message': message }, new Uint8Array());
