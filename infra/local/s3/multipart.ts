import { randomUUID } from 'node:crypto';
import {
  entityTooSmall,
  escapeXml,
  invalidArgument,
  invalidPart,
  invalidPartOrder,
  malformedXml,
  noSuchUpload,
  type S3Error,
} from './errors.ts';
import { etagOf, etagOfParts } from './etag.ts';
import type { ObjectHeaders, ObjectStore } from './object-store.ts';

const MIN_PART_BYTES = 5 * 1024 * 1024;
const MAX_PART_NUMBER = 10_000;

interface Upload {
  bucket: string;
  key: string;
  headers: ObjectHeaders;
  parts: Map<number, Buffer>;
}

interface Target {
  bucket: string;
  key: string;
}

type Outcome = { body?: string; etag?: string } | S3Error;

const xml = (root: string, content: string): string =>
  `<?xml version="1.0" encoding="UTF-8"?>\n<${root} xmlns="http://s3.amazonaws.com/doc/2006-03-01/">${content}</${root}>`;

// The request names the parts that it completes.
const readParts = (body: string): { number: number; etag: string }[] =>
  [...body.matchAll(/<Part>(.*?)<\/Part>/gs)].map(([, part = '']) => ({
    number: Number(/<PartNumber>(\d+)<\/PartNumber>/.exec(part)?.[1]),
    etag: (/<ETag>(.*?)<\/ETag>/.exec(part)?.[1] ?? '').replaceAll('&quot;', '"').replaceAll('"', ''),
  }));

/**
 * Multipart uploads (https://docs.aws.amazon.com/AmazonS3/latest/userguide/mpuoverview.html). Parts of uploads in
 * progress are in memory, so a restart of the local run aborts them.
 */
export const createMultipartUploads = (store: ObjectStore) => {
  const uploads = new Map<string, Upload>();
  const find = (id: string, { bucket, key }: Target): Upload | undefined => {
    const upload = uploads.get(id);
    return upload?.bucket === bucket && upload.key === key ? upload : undefined;
  };

  const joined = (upload: Upload, body: string): { parts: Buffer[] } | S3Error => {
    const listed = readParts(body);
    if (listed.length === 0) return malformedXml;
    if (listed.some(({ number }, i) => i > 0 && number <= (listed[i - 1]?.number ?? 0))) return invalidPartOrder;
    const parts = listed.map(({ number, etag }) => {
      const part = upload.parts.get(number);
      return part && etagOf(part) === `"${etag}"` ? part : undefined;
    });
    if (!parts.every((part) => part !== undefined)) return invalidPart;
    return parts.slice(0, -1).some(({ length }) => length < MIN_PART_BYTES) ? entityTooSmall : { parts };
  };

  return {
    create: ({ bucket, key }: Target, headers: ObjectHeaders): Outcome => {
      const id = randomUUID();
      uploads.set(id, { bucket, key, headers, parts: new Map() });
      return {
        body: xml('InitiateMultipartUploadResult', `<Bucket>${bucket}</Bucket><Key>${escapeXml(key)}</Key><UploadId>${id}</UploadId>`),
      };
    },

    /** Adds a part, or replaces the one with its number. */
    put: (id: string, target: Target, number: number, content: Buffer): Outcome => {
      const upload = find(id, target);
      if (!upload) return noSuchUpload;
      if (!Number.isInteger(number) || number < 1 || number > MAX_PART_NUMBER) return invalidArgument;
      upload.parts.set(number, content);
      return { etag: etagOf(content) };
    },

    complete: async (id: string, target: Target, body: string): Promise<Outcome> => {
      const upload = find(id, target);
      if (!upload) return noSuchUpload;
      const whole = joined(upload, body);
      if ('status' in whole) return whole;
      await store.put(target.bucket, target.key, Buffer.concat(whole.parts), upload.headers);
      uploads.delete(id);
      const etag = etagOfParts(whole.parts);
      return {
        body: xml(
          'CompleteMultipartUploadResult',
          `<Bucket>${target.bucket}</Bucket><Key>${escapeXml(target.key)}</Key><ETag>${escapeXml(etag)}</ETag>`,
        ),
      };
    },

    abort: (id: string, target: Target): Outcome => {
      if (!find(id, target)) return noSuchUpload;
      uploads.delete(id);
      return {};
    },
  };
};

export type MultipartUploads = ReturnType<typeof createMultipartUploads>;
