import { AwsError, DamagedReply } from './errors.ts';

// In a bundle, a name that is imported from a module of Node is a getter.
const { crc32 } = process.getBuiltinModule('node:zlib');

const PRELUDE_BYTES = 12;
const CHECKSUM_BYTES = 4;
const STRING = 7;
// By type: true, false, byte, short, integer, long, bytes, string, timestamp, UUID. 'sized': two bytes say how many.
const VALUE_BYTES = [0, 0, 1, 2, 4, 8, 'sized', 'sized', 8, 16] as const;
const MAX_MESSAGE_BYTES = 24 * 1024 * 1024;

const readHeaders = (bytes: Buffer): Map<string, string> => {
  const headers = new Map<string, string>();
  const checkEnd = (end: number): void => {
    if (end > bytes.length) throw new DamagedReply('A header of an event stream is longer than its headers.');
  };
  for (let at = 0; at < bytes.length; ) {
    const nameEnd = at + 1 + bytes.readUInt8(at);
    checkEnd(nameEnd + 1);
    const name = bytes.toString('latin1', at + 1, nameEnd);
    const type = bytes.readUInt8(nameEnd);
    const size = VALUE_BYTES[type];
    if (size === undefined) throw new DamagedReply(`A header of an event stream has the unknown type ${type}.`);
    const start = nameEnd + 1 + (size === 'sized' ? 2 : 0);
    checkEnd(start);
    at = start + (size === 'sized' ? bytes.readUInt16BE(nameEnd + 1) : size);
    checkEnd(at);
    if (type === STRING) headers.set(name, bytes.toString('utf8', start, at));
  }
  return headers;
};

const errorOf = (headers: ReadonlyMap<string, string>, payload: Buffer): AwsError => {
  const name = headers.get(':exception-type') ?? headers.get(':error-code') ?? 'UnknownError';
  let facts: Record<string, unknown> = { message: headers.get(':error-message') };
  try {
    facts = { ...facts, ...(JSON.parse(payload.toString() || '{}') as object) };
  } catch {
    // The payload is only a description of the error.
  }
  return new AwsError(name, 200, facts);
};

/**
 * Splits an event stream into the payloads of its events. Parts can end anywhere; both checksums of each message are
 * verified. A message of `application/vnd.amazon.eventstream`, integers big-endian
 * (https://smithy.io/2.0/aws/amazon-eventstream.html#amazon-event-stream-specification):
 *
 *   4 length of the message   4 length of the headers   4 CRC-32 of these eight bytes
 *   headers   payload   4 CRC-32 of everything before
 *
 * A header: 1 length of the name, name, 1 type, value; a string (type 7) has its length in two bytes before it.
 * @param onPayload receives each payload. It is a view of the part, valid until the part is reused.
 */
export const createEventStreamReader = (onPayload: (payload: Buffer) => void) => {
  /** The beginning of a message whose end has not arrived. */
  let pieces: Buffer[] = [];
  let pieceBytes = 0;
  let neededBytes = PRELUDE_BYTES;
  /** Most messages have the same headers, so equal bytes are read once. */
  let lastHeaders: { bytes: Buffer; isPayload: boolean } | undefined;
  let failure: unknown;

  const lengthOf = (bytes: Buffer, at: number): number => {
    if (crc32(bytes.subarray(at, at + 8)) !== bytes.readUInt32BE(at + 8))
      throw new DamagedReply("The prelude of an event stream's message is damaged.");
    const length = bytes.readUInt32BE(at);
    const headers = bytes.readUInt32BE(at + 4);
    if (length > MAX_MESSAGE_BYTES || length < PRELUDE_BYTES + headers + CHECKSUM_BYTES)
      throw new DamagedReply(`A message of an event stream cannot have ${length} bytes, ${headers} of them headers.`);
    return length;
  };

  /** Takes the message in `bytes` from `start` to `messageEnd`. */
  const take = (bytes: Buffer, start: number, messageEnd: number): void => {
    const end = messageEnd - CHECKSUM_BYTES;
    if (crc32(bytes.subarray(start, end)) !== bytes.readUInt32BE(end)) throw new DamagedReply('A message of an event stream is damaged.');
    const headersStart = start + PRELUDE_BYTES;
    const payloadStart = headersStart + bytes.readUInt32BE(start + 4);
    const payload = bytes.subarray(payloadStart, end);
    if (lastHeaders === undefined || bytes.compare(lastHeaders.bytes, 0, undefined, headersStart, payloadStart) !== 0) {
      const own = Buffer.from(bytes.subarray(headersStart, payloadStart));
      const headers = readHeaders(own);
      if (headers.get(':message-type') !== 'event') throw errorOf(headers, payload);
      lastHeaders = { bytes: own, isPayload: headers.get(':event-type') === 'PayloadPart' };
    }
    // Events of other types may be added to the API.
    if (lastHeaders.isPayload) onPayload(payload);
  };

  const takeMessages = (): void => {
    const bytes = pieces.length === 1 ? (pieces[0] as Buffer) : Buffer.concat(pieces, pieceBytes);
    let at = 0;
    neededBytes = PRELUDE_BYTES;
    while (bytes.length - at >= PRELUDE_BYTES) {
      const length = lengthOf(bytes, at);
      if (bytes.length - at < length) {
        neededBytes = length;
        break;
      }
      take(bytes, at, at + length);
      at += length;
    }
    pieces = at === bytes.length ? [] : [at === 0 ? bytes : bytes.subarray(at)];
    pieceBytes = bytes.length - at;
  };

  return {
    /**
     * Takes a part of the stream. After an error, every call throws it again.
     * @throws AwsError for an error within the stream; DamagedReply if a checksum or a length is wrong
     */
    push: (part: Buffer): void => {
      if (failure) throw failure;
      pieces.push(part);
      pieceBytes += part.length;
      if (pieceBytes < neededBytes) return;
      try {
        takeMessages();
      } catch (error) {
        failure = error;
        throw error;
      }
    },

    /** Ends the stream. @throws DamagedReply if it ends within a message */
    end: (): void => {
      if (failure) throw failure;
      if (pieceBytes > 0) throw new DamagedReply('An event stream ended within a message.');
    },
  };
};
