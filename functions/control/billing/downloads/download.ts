import * as z from 'zod';
import type { RenderedFile } from '../../../../shared/billing/invoice.ts';
import { lazy } from '../../../../shared/http/lazy.ts';
import { unixSeconds } from '../../../../shared/time/units.ts';

/** The lifetime of a download's URL. Anyone who has it needs no login, so the time is short. */
export const DOWNLOAD_SECONDS = 300;

/** A file that can be downloaded from its URL without a login, for a short time. */
export const Download = z.object({
  object: z.literal('download'),
  url: z.string().meta({ description: 'Download the file from here. Anyone who has the URL can, until it expires.' }),
  sha256: z.string().meta({ description: 'The SHA-256 of the file, in hexadecimal.' }),
  bytes: z.int(),
  expires_at: z.int().meta({ description: 'When the URL expires. Unix time in seconds.' }),
});
export type Download = z.infer<typeof Download>;

/** Signs the URL of a file in the bucket for billing. @param name the name that browsers save it under */
export type SignDownload = (key: string, name: string) => Promise<string>;

/** Signs URLs of a bucket. The client of S3 is loaded with the first one, because most requests need none. */
export const createSignDownload = (bucket: string): SignDownload =>
  lazy(async () => (await import('./presign.ts')).createPresign(bucket, DOWNLOAD_SECONDS));

/** Signs the URL of a file. */
export const downloadOf = async (
  { signDownload }: { signDownload: SignDownload },
  { key, sha256, bytes }: RenderedFile,
  name: string,
  nowMs: number,
): Promise<Download> => ({
  object: 'download',
  url: await signDownload(key, name),
  sha256,
  bytes,
  expires_at: unixSeconds(nowMs) + DOWNLOAD_SECONDS,
});
