import { createTicketFiles } from '../../../../functions/control/tickets/attachments/lazy-ticket-files.ts';
import { createMemoryStore } from '../../../../infra/local/s3/object-store.ts';
import { LOCAL_KEYS, startS3 } from '../../../../infra/local/s3/server.ts';

export const BUCKET = 'ticket-files';

/** A form as a route returns it. */
export interface Form {
  url: string;
  fields: Record<string, string>;
}

/** The bucket with the files of tickets in the S3 emulator, for functions in this process. */
export const startTicketBucket = async () => {
  const objects = createMemoryStore();
  let nowMs: number | undefined;
  const s3 = await startS3(new Set([BUCKET]), objects, () => nowMs ?? Date.now());
  Object.assign(process.env, {
    AWS_REGION: 'us-east-1',
    AWS_ENDPOINT_URL_S3: s3.url,
    AWS_ACCESS_KEY_ID: LOCAL_KEYS.accessKeyIds[0],
    AWS_SECRET_ACCESS_KEY: LOCAL_KEYS.secretAccessKey,
  });
  return {
    objects,
    url: s3.url,
    files: createTicketFiles(BUCKET),
    /** Sets the time at which forms and URLs expire. */
    setNow: (ms: number | undefined): void => {
      nowMs = ms;
    },
    keys: async (): Promise<string[]> => (await objects.list(BUCKET)).map(({ key }) => key).sort(),
    /**
     * Sends a form with a file, as a browser does. @param changes fields with another value, more fields; undefined:
     * without this field
     */
    submit: async ({ url, fields }: Form, content: string | Buffer, changes: Record<string, string | undefined> = {}) => {
      const form = new FormData();
      for (const [name, value] of Object.entries({ ...fields, ...changes })) if (value !== undefined) form.append(name, value);
      form.append('file', new Blob([new Uint8Array(Buffer.from(content))]), 'ignored.html');
      const response = await fetch(url, { method: 'POST', body: form });
      return { status: response.status, text: await response.text() };
    },
    close: () => s3.close(),
  };
};

export type TicketBucket = Awaited<ReturnType<typeof startTicketBucket>>;
