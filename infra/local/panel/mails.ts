import { open } from 'node:fs/promises';
import path from 'node:path';

const MAX_BYTES = 65_536;
const MAX_MAILS = 5;

const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null;

const parse = (line: string): object[] => {
  try {
    const mail: unknown = JSON.parse(line);
    return isObject(mail) ? [mail] : [];
  } catch {
    return [];
  }
};

/** Reads the newest emails of a run, the newest first; none if it has sent none. */
export const readMails = async (logFolder: string): Promise<object[]> => {
  try {
    await using file = await open(path.join(logFolder, 'mail.log'));
    const { size } = await file.stat();
    const position = Math.max(0, size - MAX_BYTES);
    const { buffer, bytesRead } = await file.read(Buffer.alloc(MAX_BYTES), 0, MAX_BYTES, position);
    // The first line may have begun before, and then is no JSON.
    const mails = buffer.toString('utf8', 0, bytesRead).split('\n').flatMap(parse);
    return mails.slice(-MAX_MAILS).reverse();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
};
