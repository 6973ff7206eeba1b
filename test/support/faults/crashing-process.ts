import type { BillingFiles } from '../../../shared/billing/billing-files.ts';
import type { Database } from '../../../shared/database/database.ts';
import { Crash } from './unreliable-database.ts';

const WRITES = new Set<keyof Database>(['put', 'update', 'delete', 'transactWrite']);

/**
 * A database and a bucket as one function process sees them, which crashes before or after one of its writes (counted
 * from 0): from then on none of its calls happens.
 */
export const crashingProcess = (database: Database, files: BillingFiles, at: { write: number; when: 'before' | 'after' }) => {
  let writes = 0;
  let hasCrashed = false;
  const checkAlive = (): void => {
    if (hasCrashed) throw new Crash();
  };
  const crash = (): never => {
    hasCrashed = true;
    throw new Crash();
  };
  const reading = async <Result>(work: () => Promise<Result>): Promise<Result> => {
    checkAlive();
    return work();
  };
  const writing = async <Result>(work: () => Promise<Result>): Promise<Result> => {
    checkAlive();
    const isLast = writes++ === at.write;
    if (isLast && at.when === 'before') crash();
    const result = await work();
    if (isLast) crash();
    return result;
  };
  return {
    hasCrashed: (): boolean => hasCrashed,
    database: new Proxy(database, {
      get: (target, name: keyof Database) => (input: never) => {
        const call = (): Promise<unknown> => target[name](input) as Promise<unknown>;
        return WRITES.has(name) ? writing(call) : reading(call);
      },
    }),
    files: {
      put: (...parameters: Parameters<BillingFiles['put']>) => writing(() => files.put(...parameters)),
      get: (...parameters: Parameters<BillingFiles['get']>) => reading(() => files.get(...parameters)),
    } satisfies BillingFiles,
  };
};
