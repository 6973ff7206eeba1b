import { crc32 } from 'node:zlib';

// The most bytes of a block that isn't compressed, and the header of each: RFC 1951, 3.2.4.
const BLOCK_BYTES = 65_535;
const BLOCK_HEADER_BYTES = 5;
// No name, no time, unknown system: RFC 1952, 2.3.
const HEAD = Buffer.from([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255]);
const TAIL_BYTES = 8;

const blockCount = (bytes: number): number => Math.max(1, Math.ceil(bytes / BLOCK_BYTES));

/** The size of `storedGzip` of so many bytes. */
export const storedGzipBytes = (bytes: number): number => HEAD.length + bytes + BLOCK_HEADER_BYTES * blockCount(bytes) + TAIL_BYTES;

const blockOf = (isLast: boolean, content: Uint8Array): Buffer => {
  const block = Buffer.allocUnsafe(BLOCK_HEADER_BYTES + content.length);
  block.writeUInt8(isLast ? 1 : 0, 0);
  block.writeUInt16LE(content.length, 1);
  block.writeUInt16LE(content.length ^ 0xffff, 3);
  block.set(content, BLOCK_HEADER_BYTES);
  return block;
};

/** The content has more or fewer bytes than was said. */
export class SizeChanged extends Error {
  override name = 'SizeChanged';
}

/**
 * A gzip file (RFC 1952) of uncompressed blocks: weights hardly get smaller, and so its size is known before.
 * @param bytes the size of the content
 * @throws SizeChanged
 */
export async function* storedGzip(content: AsyncIterable<Uint8Array>, bytes: number): AsyncGenerator<Buffer> {
  yield HEAD;
  let checksum = 0;
  let read = 0;
  let held = Buffer.alloc(0);
  for await (const chunk of content) {
    read += chunk.length;
    if (read > bytes) throw new SizeChanged(`Expected ${bytes} bytes, and got more.`);
    checksum = crc32(chunk, checksum);
    held = held.length === 0 ? Buffer.from(chunk) : Buffer.concat([held, chunk]);
    let at = 0;
    // The last block is written at the end, because it is marked.
    for (; held.length - at > BLOCK_BYTES; at += BLOCK_BYTES) yield blockOf(false, held.subarray(at, at + BLOCK_BYTES));
    held = held.subarray(at);
  }
  if (read !== bytes) throw new SizeChanged(`Expected ${bytes} bytes, and got ${read}.`);
  yield blockOf(true, held);
  const tail = Buffer.alloc(TAIL_BYTES);
  tail.writeUInt32LE(checksum, 0);
  tail.writeUInt32LE(bytes % 2 ** 32, 4);
  yield tail;
}
