import * as z from 'zod';
import { EffectiveFields } from './effective-fields.ts';

/** A request whose reply was sent, and that reply, before redaction. */
export interface Exchange {
  organization: string;
  keyId: string;
  requestId: string;
  route: string;
  receivedAtMs: number;
  /** The body as it was received, and which of its fields have an effect. */
  request: string;
  fields: EffectiveFields;
  /** Content is JSON, or the text itself if it is not. `isCut`: more was sent than the content has. */
  response: { status: number; stream: boolean; isCut: boolean; content: string };
}

// The first line of an exchange: its facts, and the number of bytes of the first text; the second text is the rest.
const Head = z.object({
  organization: z.string(),
  key_id: z.string(),
  request_id: z.string(),
  route: z.string(),
  received_at_ms: z.number(),
  status: z.int(),
  stream: z.boolean(),
  is_cut: z.boolean(),
  fields: EffectiveFields,
  request_bytes: z.int().min(0),
});

const NEWLINE = 10;

/**
 * An exchange as bytes. Its texts are as they are, because to write a megabyte as JSON once more takes time that a
 * request's environment hasn't.
 */
export const writeExchange = ({ organization, keyId, requestId, route, receivedAtMs, request, fields, response }: Exchange): Buffer => {
  const requestBytes = Buffer.byteLength(request);
  const head: z.input<typeof Head> = {
    organization,
    key_id: keyId,
    request_id: requestId,
    route,
    received_at_ms: receivedAtMs,
    status: response.status,
    stream: response.stream,
    is_cut: response.isCut,
    fields,
    request_bytes: requestBytes,
  };
  const line = `${JSON.stringify(head)}\n`;
  const lineBytes = Buffer.byteLength(line);
  // In one buffer, because a second copy of a large exchange might not fit into memory.
  const bytes = Buffer.allocUnsafeSlow(lineBytes + requestBytes + Buffer.byteLength(response.content));
  bytes.write(line);
  bytes.write(request, lineBytes);
  bytes.write(response.content, lineBytes + requestBytes);
  return bytes;
};

/** @throws Error if the bytes are not an exchange, which is our own bug */
export const readExchange = (bytes: Buffer): Exchange => {
  const from = bytes.indexOf(NEWLINE) + 1;
  const head = Head.parse(JSON.parse(bytes.toString('utf8', 0, from)));
  const between = from + head.request_bytes;
  return {
    organization: head.organization,
    keyId: head.key_id,
    requestId: head.request_id,
    route: head.route,
    receivedAtMs: head.received_at_ms,
    request: bytes.toString('utf8', from, between),
    fields: head.fields,
    response: { status: head.status, stream: head.stream, isCut: head.is_cut, content: bytes.toString('utf8', between) },
  };
};
