/** A file of an archive, with as much content as it says. */
export interface TarFile {
  name: string;
  bytes: number;
  content: AsyncIterable<Uint8Array>;
}

const BLOCK_BYTES = 512;
const END = Buffer.alloc(2 * BLOCK_BYTES);

// The fields of a header in their order: POSIX.1-1988, ustar.
const FIELDS = { name: 0, mode: 100, uid: 108, gid: 116, size: 124, mtime: 136, checksum: 148, type: 156, magic: 257 } as const;
const CHECKSUM_BYTES = 8;

const octal = (value: number, digits: number): string => `${value.toString(8).padStart(digits, '0')}\0`;

const headerOf = ({ name, bytes }: TarFile): Buffer => {
  const header = Buffer.alloc(BLOCK_BYTES);
  const write = (field: keyof typeof FIELDS, text: string): void => void header.write(text, FIELDS[field], 'latin1');
  write('name', name);
  write('mode', octal(0o644, 7));
  write('uid', octal(0, 7));
  write('gid', octal(0, 7));
  write('size', octal(bytes, 11));
  write('mtime', octal(0, 11));
  write('type', '0');
  write('magic', 'ustar\x0000');
  // The sum of all bytes, with spaces in place of itself.
  header.fill(' ', FIELDS.checksum, FIELDS.checksum + CHECKSUM_BYTES);
  const sum = header.reduce((total, byte) => total + byte, 0);
  write('checksum', `${octal(sum, 6)} `);
  return header;
};

const paddingOf = (bytes: number): number => (BLOCK_BYTES - (bytes % BLOCK_BYTES)) % BLOCK_BYTES;

/** The size of an archive of files with these sizes. */
export const tarBytes = (files: readonly Pick<TarFile, 'bytes'>[]): number =>
  files.reduce((sum, { bytes }) => sum + BLOCK_BYTES + bytes + paddingOf(bytes), END.length);

/** A tar archive with these files. */
export async function* tar(files: readonly TarFile[]): AsyncGenerator<Uint8Array> {
  for (const file of files) {
    yield headerOf(file);
    yield* file.content;
    yield Buffer.alloc(paddingOf(file.bytes));
  }
  yield END;
}
