import { apiKeyOfRecord } from '../../../../functions/inference/idempotency/key-record.ts';
import { exportPrefix } from '../../../../shared/billing/export.ts';
import { isExportOf } from '../../../../shared/billing/export-store.ts';
import { archivesOf } from '../../../../shared/deployments/names.ts';
import { isRefusalOf } from '../../../../shared/observability/refusal-store.ts';
import { isObservedOf } from '../../../../shared/observability/request-row-store.ts';
import { payloadPrefix } from '../../../../shared/payload-log/payload.ts';
import { unredactedPrefix } from '../../../../shared/payload-log/waiting-payloads.ts';
import { isResponseOf } from '../../../../shared/responses/response-store.ts';
import { ticketFilePrefixes } from '../../../../shared/tickets/ticket-files.ts';
import type { Items } from './delete-items.ts';
import type { Objects } from './delete-objects.ts';
import type { Deletion } from './deletion.ts';

/** Where buckets have files of an organization. */
export const objectsOf = ({ deps: { buckets }, organization: { id } }: Deletion): Objects[] => [
  { bucket: buckets.payloads, prefix: payloadPrefix(id) },
  { bucket: buckets.payloads, prefix: unredactedPrefix(id) },
  ...ticketFilePrefixes(id).map((prefix) => ({ bucket: buckets.ticketFiles, prefix })),
  { bucket: buckets.billing, prefix: exportPrefix(id) },
  // Its own folder, from which its deployments load models.
  { bucket: buckets.weights, prefix: `${id}/` },
  // Copies of its adapters. They are deleted with these, but the bucket keeps earlier versions.
  { bucket: buckets.weights, prefix: archivesOf(id) },
];

/** The items that a scan finds, by kind. */
export const itemsOf = ({
  deps: { tables },
  organization: { id },
  keys,
}: Deletion): Record<'notifications' | 'responses' | 'observability' | 'exports', Items> => {
  const ids = new Set<string | undefined>(keys.map((key) => key.id));
  const key = ['account', 'record'];
  return {
    // Deliveries are in the partitions of webhooks, which can be gone.
    notifications: {
      table: tables.notifications,
      key,
      reads: ['organization'],
      isOwn: ({ account, organization }) => account === id || organization === id,
    },
    responses: {
      table: tables.responses,
      key: ['id'],
      isOwn: (item) => isResponseOf(id, String(item.id)) || ids.has(apiKeyOfRecord(String(item.id)) ?? ''),
    },
    observability: {
      table: tables.observability,
      key,
      isOwn: ({ account }) => isObservedOf(id, String(account)) || isRefusalOf(id, String(account)),
    },
    exports: { table: tables.billing, key, reads: ['organization'], isOwn: (row) => isExportOf(id, row) },
  };
};
