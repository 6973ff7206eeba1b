import { createHash } from 'node:crypto';

export const etagOf = (content: Buffer): string => `"${createHash('md5').update(content).digest('hex')}"`;
