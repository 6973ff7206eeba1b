import { createSdkDatabase } from '../../../shared/database/sdk-database.ts';
import { REGION } from '../../assembly/resolve.ts';

// Nobody waits for these calls, and the emulator of a busy machine can take seconds for one.
const REQUEST_TIMEOUT_MS = 60_000;

/** Opens the database of a local run for code outside its functions. */
export const openLocalDatabase = (endpoint: string) =>
  createSdkDatabase({
    endpoint,
    region: REGION,
    credentials: { accessKeyId: 'local', secretAccessKey: 'local' },
    requestTimeoutMs: REQUEST_TIMEOUT_MS,
  });
