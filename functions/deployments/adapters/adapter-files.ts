import { Readable } from 'node:stream';
import { DeleteObjectCommand, GetObjectCommand, ListObjectsV2Command, PutObjectCommand, type S3Client } from '@aws-sdk/client-s3';
import { readRank } from './adapter-config.ts';
import { AdapterRefused } from './refused.ts';
import { checkHeader, headerBytes, LENGTH_BYTES } from './safetensors.ts';
import { SizeChanged, storedGzip, storedGzipBytes } from './stored-gzip.ts';
import { tar, tarBytes } from './tar.ts';

const CONFIG = 'adapter_config.json';
const WEIGHTS = 'adapter_model.safetensors';
const PICKLE = 'adapter_model.bin';

const MAX_CONFIG_BYTES = 64 * 1_024;
/** Enough for rank 64 in all modules of a model with 8 billion parameters, and little enough for one invocation. */
export const MAX_WEIGHTS_BYTES = 512 * 2 ** 20;

interface StoredFile {
  Key: string;
  ETag: string;
  bytes: number;
}

/** The facts of an adapter whose archive is stored. */
export interface PackedAdapter {
  rank: number;
  /** The size of the archive. */
  bytes: number;
}

/** The files changed while they were read. */
export class FilesChanged extends Error {
  override name = 'FilesChanged';
}

/** S3 refuses to read a file: its storage class is an archive's, or its key can't be used. */
export class FilesUnreadable extends Error {
  override name = 'FilesUnreadable';
}

// Errors of S3: the file was replaced or deleted.
const CHANGES = ['PreconditionFailed', 'NoSuchKey'];
const isChange = (error: unknown): boolean => error instanceof SizeChanged || CHANGES.includes((error as Error).name);

// The last one: only who has the key of its owner can read it.
const REFUSALS = ['AccessDenied', 'InvalidObjectState', 'InvalidRequest'];
const isUnreadable = (error: unknown): boolean => {
  const { name } = error as Error;
  return REFUSALS.includes(name) || name.startsWith('KMS.');
};

const collect = async (content: AsyncIterable<Uint8Array>, maxBytes: number): Promise<Buffer> => {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of content) {
    bytes += chunk.length;
    if (bytes > maxBytes) throw new SizeChanged(`Expected at most ${maxBytes} bytes.`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
};

async function* joined(first: Uint8Array, rest: AsyncIterator<Uint8Array>): AsyncGenerator<Uint8Array> {
  yield first;
  for (let next = await rest.next(); !next.done; next = await rest.next()) yield next.value;
}

async function* only(content: Uint8Array): AsyncGenerator<Uint8Array> {
  yield content;
}

// At least so many bytes from the start, if there are as many.
const readStart = async (content: AsyncIterator<Uint8Array>, start: Buffer, bytes: number): Promise<Buffer> => {
  const chunks: Uint8Array[] = [start];
  let read = start.length;
  while (read < bytes) {
    const next = await content.next();
    if (next.done) break;
    chunks.push(next.value);
    read += next.value.length;
  }
  return Buffer.concat(chunks);
};

/**
 * The files of adapters in the bucket of weights. Their owners write theirs; the archives that SageMaker loads, only
 * this code does.
 * @param client whose requests can take as long as an upload
 */
export const createAdapterFiles = (client: S3Client, bucket: string) => {
  const findFiles = async (prefix: string, abortSignal: AbortSignal) => {
    // Keys are in alphabetic order, so these are on the first page of any sensible folder.
    const listed = await client.send(new ListObjectsV2Command({ Bucket: bucket, Prefix: `${prefix}adapter_` }), { abortSignal });
    const files = new Map<string, StoredFile>();
    for (const { Key = '', ETag = '', Size = 0 } of listed.Contents ?? []) files.set(Key.slice(prefix.length), { Key, ETag, bytes: Size });
    return files;
  };

  // Fails if the file was replaced since it was listed.
  const open = async ({ Key, ETag }: StoredFile, abortSignal: AbortSignal): Promise<Readable> => {
    const reading = client.send(new GetObjectCommand({ Bucket: bucket, Key, IfMatch: ETag }), { abortSignal });
    const { Body } = await reading.catch((error: unknown) => {
      throw isUnreadable(error) ? new FilesUnreadable(`${Key} can't be read: ${(error as Error).message}`, { cause: error }) : error;
    });
    if (!(Body instanceof Readable)) throw new Error(`${Key} has no content.`);
    return Body;
  };

  const checkFiles = (files: ReadonlyMap<string, StoredFile>): { config: StoredFile; weights: StoredFile } => {
    const [config, weights] = [files.get(CONFIG), files.get(WEIGHTS)];
    const missing = config ? WEIGHTS : CONFIG;
    if (!config || !weights)
      throw new AdapterRefused(
        'adapter_files_missing',
        files.has(PICKLE) ? `The folder has ${PICKLE}, which can contain code, and no ${WEIGHTS}.` : `The folder has no ${missing}.`,
      );
    if (config.bytes > MAX_CONFIG_BYTES)
      throw new AdapterRefused('adapter_too_large', `${CONFIG} has ${config.bytes} bytes; at most ${MAX_CONFIG_BYTES} are allowed.`);
    if (weights.bytes > MAX_WEIGHTS_BYTES)
      throw new AdapterRefused('adapter_too_large', `${WEIGHTS} has ${weights.bytes} bytes; at most ${MAX_WEIGHTS_BYTES} are allowed.`);
    return { config, weights };
  };

  const pack = async (prefix: string, key: string, maxRank: number, abortSignal: AbortSignal): Promise<PackedAdapter> => {
    const { config, weights } = checkFiles(await findFiles(prefix, abortSignal));
    const configText = await collect(await open(config, abortSignal), MAX_CONFIG_BYTES);
    const rank = readRank(configText.toString(), maxRank);
    const body = await open(weights, abortSignal);
    try {
      const content = body[Symbol.asyncIterator]() as AsyncIterator<Uint8Array>;
      let start = await readStart(content, Buffer.alloc(0), LENGTH_BYTES);
      const header = headerBytes(start, weights.bytes);
      start = await readStart(content, start, LENGTH_BYTES + header);
      checkHeader(start.subarray(LENGTH_BYTES, LENGTH_BYTES + header).toString(), weights.bytes - LENGTH_BYTES - header, maxRank);
      const files = [
        { name: CONFIG, bytes: configText.length, content: only(configText) },
        { name: WEIGHTS, bytes: weights.bytes, content: joined(start, content) },
      ];
      const packed = tarBytes(files);
      const bytes = storedGzipBytes(packed);
      const Body = Readable.from(storedGzip(tar(files), packed), { objectMode: false });
      await client.send(new PutObjectCommand({ Bucket: bucket, Key: key, Body, ContentLength: bytes }), { abortSignal });
      return { rank, bytes };
    } finally {
      body.destroy();
    }
  };

  return {
    /**
     * Checks an adapter's two files and stores them as the archive that SageMaker loads. What is checked is what is
     * stored: each file is read once, and in the version that was listed.
     * @param prefix of the owner's files, with a slash at the end
     * @param key of the archive
     * @throws AdapterRefused, FilesChanged, FilesUnreadable, and the SDK's errors
     */
    pack: async (prefix: string, key: string, maxRank: number, abortSignal: AbortSignal): Promise<PackedAdapter> => {
      try {
        return await pack(prefix, key, maxRank, abortSignal);
      } catch (error) {
        if (isChange(error)) throw new FilesChanged(`The files under ${prefix} changed.`, { cause: error });
        throw error;
      }
    },

    /** The keys of the archives under a prefix. */
    list: async (prefix: string): Promise<string[]> => {
      const { Contents = [] } = await client.send(new ListObjectsV2Command({ Bucket: bucket, Prefix: prefix }));
      return Contents.flatMap(({ Key }) => (Key === undefined ? [] : [Key]));
    },

    remove: async (key: string): Promise<void> => void (await client.send(new DeleteObjectCommand({ Bucket: bucket, Key: key }))),
  };
};

export type AdapterFiles = ReturnType<typeof createAdapterFiles>;
