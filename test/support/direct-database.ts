import { REGION } from '../../infra/local/assembly/resolve.ts';
import type { Database } from '../../shared/database/database.ts';
import { createDirectDatabases } from '../../shared/database/direct-database.ts';

/** The client of the functions on the request path. */
export const openDirectDatabase = (endpoint: string, credentials = { accessKeyId: 'local', secretAccessKey: 'local' }): Database =>
  createDirectDatabases({ endpoint, region: REGION, credentials }).database;
