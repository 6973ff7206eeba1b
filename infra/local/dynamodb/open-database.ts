import { createSdkDatabase } from '../../../shared/database/sdk-database.ts';
import { REGION } from '../../assembly/resolve.ts';
import { LOCAL_TIMEOUT_MS } from './local-timeout.ts';

/** Opens the database of a local run for code outside its functions. */
export const openLocalDatabase = (endpoint: string) =>
  createSdkDatabase({
    endpoint,
    region: REGION,
    credentials: { accessKeyId: 'local', secretAccessKey: 'local' },
    connectMs: LOCAL_TIMEOUT_MS,
    requestTimeoutMs: LOCAL_TIMEOUT_MS,
  });
