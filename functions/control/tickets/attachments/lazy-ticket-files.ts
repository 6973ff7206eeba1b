import { lazy } from '../../../../shared/http/lazy.ts';
import type { TicketFiles } from './ticket-files.ts';

/** Returns files whose client of S3 is loaded with the first request that needs it, because most need none. */
export const createTicketFiles = (bucket: string): TicketFiles => {
  const files = lazy(async () => {
    const loaded = (await import('./s3-ticket-files.ts')).createS3TicketFiles(bucket);
    return async () => loaded;
  });
  return {
    signUpload: async (...upload) => (await files()).signUpload(...upload),
    keep: async (...copy) => (await files()).keep(...copy),
    signDownload: async (...download) => (await files()).signDownload(...download),
  };
};
