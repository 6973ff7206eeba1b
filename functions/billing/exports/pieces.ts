import type { EventExport, ExportPosition } from '../../../shared/billing/export.ts';
import { COST_AND_USAGE, headerOf } from '../focus/columns.ts';
import { eventHeader, eventLine } from './event-records.ts';
import { createFocusUnits } from './focus-units.ts';
import { eventsOf, type PieceDependencies } from './unit-events.ts';
import { type Unit, unitsOf } from './units.ts';

/** Text of the file, and the position of the export after it. */
export interface Piece {
  text: string;
  rows: number;
  position: ExportPosition;
  progress: number;
}

/** The first text of the file. */
export const fileHeader = (format: EventExport['format']): string => (format === 'focus' ? headerOf(COST_AND_USAGE) : eventHeader(format));

async function* unitsLeft(deps: PieceDependencies, wanted: EventExport): AsyncGenerator<{ unit: Unit; after: string }> {
  const { unit: last = '', after = null } = wanted.position ?? {};
  for await (const unit of unitsOf(deps, wanted, last)) {
    if (unit.id < last || (unit.id === last && after === null)) continue;
    yield { unit, after: unit.id === last ? (after ?? '') : '' };
  }
}

async function* eventPieces(deps: PieceDependencies, wanted: EventExport, format: 'csv' | 'jsonl'): AsyncGenerator<Piece> {
  for await (const { unit, after } of unitsLeft(deps, wanted)) {
    const at = { progress: unit.progress };
    for await (const event of eventsOf(deps, wanted, unit, after))
      yield { ...at, text: eventLine(format, event), rows: 1, position: { unit: unit.id, after: event.request_id } };
    yield { ...at, text: '', rows: 0, position: { unit: unit.id, after: null } };
  }
}

/**
 * The rest of a file, in pieces, from the position of the export.
 * @param sums the costs of the current month's rows, updated in place
 */
export async function* piecesOf(deps: PieceDependencies, wanted: EventExport, sums: Map<string, bigint>): AsyncGenerator<Piece> {
  if (wanted.format !== 'focus') return yield* eventPieces(deps, wanted, wanted.format);
  const focus = await createFocusUnits(deps, wanted, sums);
  for await (const { unit } of unitsLeft(deps, wanted)) {
    const { text, rows } = await focus.rowsOf(unit);
    yield { text, rows, position: { unit: unit.id, after: null }, progress: unit.progress };
  }
}
