import type { Database } from '../../../shared/database/client.ts';
import { transact, type Write } from '../../../shared/database/transaction.ts';
import { auditEntry, type Deed, type Origin } from './audit.ts';
import type { AuditStore } from './audit-store.ts';

export interface Books {
  database: Database;
  audit: AuditStore;
}

/** Makes a change and notes it in the audit log: both, or neither. @throws what the first refused write says */
export const commit = async ({ database, audit }: Books, origin: Origin, deed: Deed, writes: readonly Write[]): Promise<void> =>
  transact(database, [...writes, audit.toAppend(auditEntry(origin, deed))]);
