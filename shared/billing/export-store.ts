import { createHash } from 'node:crypto';
import type { RecordKey, RecordTable } from '../database/record-table.ts';
import type { Write } from '../database/transaction.ts';
import { Conflict, ResourceNotFound } from '../http/errors.ts';
import type { PageRequest } from '../http/page.ts';
import { EventExport, MAX_RUNNING_EXPORTS } from './export.ts';

const EXPORT = 'export#';

const recordKeyOf = (id: string): RecordKey => ({ account: id, record: 'export' });
const listRecordKeyOf = ({ organization, id }: Pick<EventExport, 'organization' | 'id'>): RecordKey => ({
  account: organization,
  record: EXPORT + id,
});
const countRecordKeyOf = (organization: string): RecordKey => ({ account: organization, record: 'exports-running' });

const idempotencyRecordKeyOf = (organization: string, key: string): RecordKey => ({
  account: organization,
  record: `export-once#${createHash('sha256').update(key).digest('base64url')}`,
});

/** A row of the table is about an export of this organization. */
export const isExportOf = (organization: string, row: { account?: unknown; record?: unknown; organization?: unknown }): boolean =>
  (row.record === 'export' && row.organization === organization) ||
  (row.account === organization && String(row.record).startsWith('export'));

/** This idempotency key was already used for an export. */
export class AlreadyExported extends Error {}

const tooMany = (): Conflict =>
  new Conflict({
    code: 'too_many_exports',
    message: `An organization can have at most ${MAX_RUNNING_EXPORTS} exports that are not completed. Wait until one of them is completed.`,
  });

/**
 * Exports in the table `billing`: a row each, in a partition of its own, and an entry in the list of its
 * organization. The only code that knows their keys.
 */
export const createExportStore = (table: RecordTable) => ({
  /** An export of any organization. @throws 404 */
  find: async (id: string): Promise<EventExport> => {
    const row = await table.get(recordKeyOf(id));
    if (!row) throw new ResourceNotFound('export', id);
    return EventExport.parse(row);
  },

  /** @throws 404, also for another organization's export */
  get: async (organization: string, id: string): Promise<EventExport> => {
    const row = await table.get(recordKeyOf(id));
    if (row?.organization !== organization) throw new ResourceNotFound('export', id);
    return EventExport.parse(row);
  },

  /** Newest first. */
  list: async (organization: string, request: PageRequest): Promise<{ exports: EventExport[]; hasMore: boolean }> => {
    const { rows, hasMore } = await table.page({ account: organization, prefix: EXPORT, newestFirst: true }, request);
    const found = await table.getMany(rows.map(({ id }) => recordKeyOf(String(id))));
    return { exports: found.map((row) => EventExport.parse(row)), hasMore };
  },

  /** The id of an idempotency key's export, and the fingerprint of the request that created it. */
  getOnce: async (organization: string, key: string): Promise<{ id: string; fingerprint: string } | undefined> => {
    const row = await table.get(idempotencyRecordKeyOf(organization, key));
    return row && { id: String(row.id), fingerprint: String(row.fingerprint) };
  },

  /** Creates an export, once per idempotency key. The first write is refused with 409 if too many are running. */
  toCreate: (created: EventExport, once?: { key: string; fingerprint: string }): Write[] => [
    ...(once
      ? [
          table.toCreate(
            idempotencyRecordKeyOf(created.organization, once.key),
            { id: created.id, fingerprint: once.fingerprint },
            () => new AlreadyExported(),
          ),
        ]
      : []),
    table.toCount(countRecordKeyOf(created.organization), 1, MAX_RUNNING_EXPORTS, tooMany),
    table.toCreate(recordKeyOf(created.id), created, () => new Error(`${created.id} already exists.`)),
    table.toCreate(listRecordKeyOf(created), { id: created.id }, () => new Error(`${created.id} is already listed.`)),
  ],

  /** Replaces an export that goes on. */
  toContinue: (changed: EventExport): Write => table.toReplace(recordKeyOf(changed.id), changed),

  /** Replaces an export that ends: it no longer counts as running. */
  toEnd: (ended: EventExport): Write[] => [
    table.toReplace(recordKeyOf(ended.id), ended),
    table.toCount(countRecordKeyOf(ended.organization), -1, MAX_RUNNING_EXPORTS, tooMany),
  ],
});

export type ExportStore = ReturnType<typeof createExportStore>;
