import { REGION } from '../../../infra/assembly/resolve.ts';
import { IN_FLIGHT } from '../../../shared/admission/item/limiter-item.ts';
import type { Database } from '../../../shared/database/database.ts';
import { createDirectDatabases } from '../../../shared/database/direct-database.ts';
import { createItemReader } from '../../../shared/database/item-reader.ts';

/** The client of `inference`. */
export const openDirectDatabase = (endpoint: string, credentials = { accessKeyId: 'local', secretAccessKey: 'local' }): Database =>
  createDirectDatabases({ endpoint, region: REGION, credentials, readItem: createItemReader(IN_FLIGHT) }).database;
