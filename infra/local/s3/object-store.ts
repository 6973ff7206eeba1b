import { createHash } from 'node:crypto';
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import path from 'node:path';

/** The objects of all buckets. */
export interface ObjectStore {
  get(bucket: string, key: string): Promise<Buffer | undefined>;
  put(bucket: string, key: string, content: Buffer): Promise<void>;
}

export const createMemoryStore = (): ObjectStore => {
  const objects = new Map<string, Buffer>();
  const nameOf = (bucket: string, key: string): string => JSON.stringify([bucket, key]);
  return {
    get: async (bucket, key) => objects.get(nameOf(bucket, key)),
    put: async (bucket, key, content) => void objects.set(nameOf(bucket, key), content),
  };
};

/** Stores objects as files. File names are hashes of the keys, so that no key escapes the folder or is too long. */
export const createFileStore = (folder: string): ObjectStore => {
  const fileOf = (bucket: string, key: string): string =>
    path.join(folder, ...[bucket, key].map((name) => createHash('sha256').update(name).digest('hex')));
  let drafts = 0;
  return {
    async get(bucket, key) {
      try {
        return await readFile(fileOf(bucket, key));
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
        throw error;
      }
    },
    // The rename is atomic, so readers never see a partial object.
    async put(bucket, key, content) {
      const file = fileOf(bucket, key);
      drafts += 1;
      const draft = `${file}.${process.pid}.${drafts}`;
      await mkdir(path.dirname(file), { recursive: true });
      await writeFile(draft, content);
      await rename(draft, file);
    },
  };
};
