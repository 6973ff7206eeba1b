import { DeleteObjectCommand, ListObjectsV2Command, type S3Client } from '@aws-sdk/client-s3';
import { keptPrefix, type TicketFile } from '../../shared/tickets/ticket-files.ts';

// More than a ticket can have, so that one page is usually all.
const MAX_DELETED = 1_000;
const PARALLEL_DELETIONS = 10;

/**
 * Deletes the stored files of a ticket, at most 1,000 of them. The bucket itself deletes uploads that no message names.
 * @returns true if none is left; otherwise call it again
 */
export const deleteTicketFiles = async (client: S3Client, bucket: string, ticket: Omit<TicketFile, 'attachment'>): Promise<boolean> => {
  const page = await client.send(new ListObjectsV2Command({ Bucket: bucket, Prefix: keptPrefix(ticket), MaxKeys: MAX_DELETED }));
  const keys = (page.Contents ?? []).flatMap(({ Key }) => (Key === undefined ? [] : [Key]));
  for (let i = 0; i < keys.length; i += PARALLEL_DELETIONS)
    await Promise.all(keys.slice(i, i + PARALLEL_DELETIONS).map((Key) => client.send(new DeleteObjectCommand({ Bucket: bucket, Key }))));
  return page.IsTruncated !== true;
};
