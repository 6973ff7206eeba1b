import { createHash } from 'node:crypto';
import { mkdir, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';

export interface ListedObject {
  key: string;
  modifiedAt: Date;
}

/** The headers that are stored with an object, by their lower-case names. */
export type ObjectHeaders = Readonly<Record<string, string>>;

/** The objects of all buckets. */
export interface ObjectStore {
  get(bucket: string, key: string): Promise<Buffer | undefined>;
  put(bucket: string, key: string, content: Buffer, headers?: ObjectHeaders): Promise<void>;
  /** The headers of an object, without those that it has by default. */
  headersOf(bucket: string, key: string): Promise<ObjectHeaders>;
  delete(bucket: string, key: string): Promise<void>;
  /** All objects of a bucket, in any order. */
  list(bucket: string): Promise<ListedObject[]>;
}

export const createMemoryStore = (): ObjectStore => {
  const buckets = new Map<string, Map<string, { content: Buffer; headers: ObjectHeaders; modifiedAt: Date }>>();
  return {
    get: async (bucket, key) => buckets.get(bucket)?.get(key)?.content,
    async put(bucket, key, content, headers = {}) {
      const objects = buckets.get(bucket) ?? new Map();
      buckets.set(bucket, objects.set(key, { content, headers, modifiedAt: new Date() }));
    },
    headersOf: async (bucket, key) => buckets.get(bucket)?.get(key)?.headers ?? {},
    delete: async (bucket, key) => void buckets.get(bucket)?.delete(key),
    list: async (bucket) => [...(buckets.get(bucket) ?? [])].map(([key, { modifiedAt }]) => ({ key, modifiedAt })),
  };
};

const KEY_SUFFIX = '.key';
const HEADERS_SUFFIX = '.headers';

const isMissing = (error: unknown): boolean => (error as NodeJS.ErrnoException).code === 'ENOENT';

// Undefined if there is no such file.
const ifPresent = async <Result>(reading: Promise<Result>): Promise<Result | undefined> => {
  try {
    return await reading;
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error;
  }
};

/**
 * Stores objects as files. File names are hashes of the keys, so that no key escapes the folder or is too long. The
 * key of an object is in a second file next to its content, and its headers, if it has any, are in a third.
 */
export const createFileStore = (folder: string): ObjectStore => {
  const hashOf = (name: string): string => createHash('sha256').update(name).digest('hex');
  const folderOf = (bucket: string): string => path.join(folder, hashOf(bucket));
  const fileOf = (bucket: string, key: string): string => path.join(folderOf(bucket), hashOf(key));
  let drafts = 0;
  // The rename is atomic, so readers never see a partial file.
  const replace = async (file: string, content: Buffer | string): Promise<void> => {
    drafts += 1;
    const draft = `${file}.${process.pid}.${drafts}`;
    await writeFile(draft, content);
    await rename(draft, file);
  };
  const listed = async (keyFile: string): Promise<ListedObject | undefined> => {
    const key = await ifPresent(readFile(keyFile, 'utf8'));
    const content = await ifPresent(stat(keyFile.slice(0, -KEY_SUFFIX.length)));
    return key === undefined || content === undefined ? undefined : { key, modifiedAt: content.mtime };
  };
  return {
    get: (bucket, key) => ifPresent(readFile(fileOf(bucket, key))),
    async put(bucket, key, content, headers = {}) {
      const file = fileOf(bucket, key);
      await mkdir(path.dirname(file), { recursive: true });
      await replace(`${file}${KEY_SUFFIX}`, key);
      if (Object.keys(headers).length > 0) await replace(`${file}${HEADERS_SUFFIX}`, JSON.stringify(headers));
      else await rm(`${file}${HEADERS_SUFFIX}`, { force: true });
      await replace(file, content);
    },
    headersOf: async (bucket, key) => {
      const text = await ifPresent(readFile(`${fileOf(bucket, key)}${HEADERS_SUFFIX}`, 'utf8'));
      return text === undefined ? {} : JSON.parse(text);
    },
    async delete(bucket, key) {
      const file = fileOf(bucket, key);
      for (const suffix of ['', HEADERS_SUFFIX, KEY_SUFFIX]) await rm(`${file}${suffix}`, { force: true });
    },
    async list(bucket) {
      const names = (await ifPresent(readdir(folderOf(bucket)))) ?? [];
      const keyFiles = names.filter((name) => name.endsWith(KEY_SUFFIX)).map((name) => path.join(folderOf(bucket), name));
      return (await Promise.all(keyFiles.map(listed))).filter((object) => object !== undefined);
    },
  };
};
