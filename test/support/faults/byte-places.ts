/** The classes of bytes in an exchange. A frame is a message of an event stream. */
export const REQUEST_PLACES = ['request head', 'request body'] as const;
export const REPLY_PLACES = ['status line', 'headers', 'body'] as const;
export const FRAME_PLACES = ['frame prelude', 'frame headers', 'frame payload', 'frame checksum'] as const;
export type Place = (typeof REQUEST_PLACES | typeof REPLY_PLACES | typeof FRAME_PLACES)[number];

interface Range {
  from: number;
  /** Exclusive. */
  to: number;
}

const END_OF_HEAD = '\r\n\r\n';

/** The length of a message's head with the empty line after it; undefined until all of it has arrived. */
export const headLength = (message: Buffer): number | undefined => {
  const end = message.indexOf(END_OF_HEAD);
  return end < 0 ? undefined : end + END_OF_HEAD.length;
};

// The emulator sends each chunk of a body in one frame.
const chunksOf = (message: Buffer, bodyStart: number): Range[] => {
  const chunks: Range[] = [];
  for (let at = bodyStart; at < message.length; ) {
    const lineEnd = message.indexOf('\r\n', at);
    const length = Number.parseInt(message.toString('latin1', at, lineEnd), 16);
    if (!(length > 0)) break;
    chunks.push({ from: lineEnd + 2, to: lineEnd + 2 + length });
    at = lineEnd + 2 + length + 2;
  }
  return chunks;
};

const rangeOf = (message: Buffer, place: Place, random: () => number): Range => {
  const bodyStart = headLength(message) ?? message.length;
  const firstLine = message.indexOf('\r\n') + 2;
  switch (place) {
    case 'request head':
      return { from: 0, to: bodyStart };
    case 'status line':
      return { from: 0, to: firstLine };
    case 'headers':
      return { from: firstLine, to: bodyStart };
    case 'request body':
    case 'body':
      return { from: bodyStart, to: message.length };
  }
  const chunks = chunksOf(message, bodyStart);
  const { from, to } = chunks[Math.floor(random() * chunks.length)] ?? { from: bodyStart, to: message.length };
  const payload = from + 12 + message.readUInt32BE(from + 4);
  switch (place) {
    case 'frame prelude':
      return { from, to: from + 12 };
    case 'frame headers':
      return { from: from + 12, to: payload };
    case 'frame payload':
      return { from: payload, to: to - 4 };
    case 'frame checksum':
      return { from: to - 4, to };
  }
};

/** A random byte of this class, but not the first of the message: before it, nothing of the message has arrived. */
export const placeIn = (message: Buffer, place: Place, random: () => number): number => {
  const { from, to } = rangeOf(message, place, random);
  return Math.min(message.length - 1, Math.max(1, from + Math.floor(random() * (to - from))));
};

/** A copy with one bit of this byte flipped. */
export const corrupt = (message: Buffer, at: number, random: () => number): Buffer => {
  const copy = Buffer.from(message);
  copy.writeUInt8(copy.readUInt8(at) ^ (1 << Math.floor(random() * 8)), at);
  return copy;
};
