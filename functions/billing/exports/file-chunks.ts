import type { EventExport, ExportPosition } from '../../../shared/billing/export.ts';
import { COST_AND_USAGE, headerOf } from '../focus/columns.ts';
import { eventHeader, eventLine } from './event-lines.ts';
import { type ExportSlice, slicesOf } from './export-slices.ts';
import { createFocusSlices } from './focus-slices.ts';
import { eventsOf, type FileSources } from './slice-events.ts';

/** Text of the file, and the position of the export after it. */
export interface FileChunk {
  text: string;
  rows: number;
  position: ExportPosition;
  progress: number;
}

/** The first text of the file. */
export const fileHeader = (format: EventExport['format']): string => (format === 'focus' ? headerOf(COST_AND_USAGE) : eventHeader(format));

async function* slicesLeft(deps: FileSources, wanted: EventExport): AsyncGenerator<{ slice: ExportSlice; after: string }> {
  const { unit: last = '', after = null } = wanted.position ?? {};
  for await (const slice of slicesOf(deps, wanted, last)) {
    if (slice.id < last || (slice.id === last && after === null)) continue;
    yield { slice, after: slice.id === last ? (after ?? '') : '' };
  }
}

async function* eventChunks(deps: FileSources, wanted: EventExport, format: 'csv' | 'jsonl'): AsyncGenerator<FileChunk> {
  for await (const { slice, after } of slicesLeft(deps, wanted)) {
    const at = { progress: slice.progress };
    for await (const event of eventsOf(deps, wanted, slice, after))
      yield { ...at, text: eventLine(format, event), rows: 1, position: { unit: slice.id, after: event.request_id } };
    yield { ...at, text: '', rows: 0, position: { unit: slice.id, after: null } };
  }
}

/**
 * The rest of a file, in pieces, from the position of the export.
 * @param sums the costs of the current month's rows, updated in place
 */
export async function* fileChunksOf(deps: FileSources, wanted: EventExport, sums: Map<string, bigint>): AsyncGenerator<FileChunk> {
  if (wanted.format !== 'focus') return yield* eventChunks(deps, wanted, wanted.format);
  const focus = await createFocusSlices(deps, wanted, sums);
  for await (const { slice } of slicesLeft(deps, wanted)) {
    const { text, rows } = await focus.rowsOf(slice);
    yield { text, rows, position: { unit: slice.id, after: null }, progress: slice.progress };
  }
}
