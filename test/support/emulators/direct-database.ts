import { REGION } from '../../../infra/assembly/resolve.ts';
import { LOCAL_TIMEOUT_MS } from '../../../infra/local/dynamodb/local-timeout.ts';
import { IN_FLIGHT } from '../../../shared/admission/item/limiter-item.ts';
import type { Database } from '../../../shared/database/database.ts';
import { createDirectDatabases } from '../../../shared/database/direct-database.ts';
import { createItemReader } from '../../../shared/database/item-reader.ts';

const TIMEOUTS = { connectMs: LOCAL_TIMEOUT_MS, silenceMs: LOCAL_TIMEOUT_MS };
const LOCAL = { accessKeyId: 'local', secretAccessKey: 'local' };

/** The client of `inference`, which waits longer. */
export const openDirectDatabase = (endpoint: string, credentials = LOCAL): Database =>
  createDirectDatabases({ endpoint, region: REGION, credentials, readItem: createItemReader(IN_FLIGHT), ...TIMEOUTS }).database;
