import type { EventSource } from '../../assembly/local-app.ts';
import { createDatabaseCalls } from '../dynamodb/database-calls.ts';
import type { TableWrites } from '../dynamodb/table-writes.ts';
import { type EventSourceOptions, startEventSource } from './event-source.ts';
import { createStreamReader } from './stream-reader.ts';

const SILENCE_MS = 5_000;

interface EventSourcesOptions extends Pick<EventSourceOptions, 'invoke' | 'sendFailure' | 'log'> {
  eventSources: readonly EventSource[];
  /** The DynamoDB endpoint, which also serves the streams. */
  url: string;
  /** The writes of all calls of the database, if they are known. */
  writes?: TableWrites | undefined;
  /** Caps the batching windows of the template. */
  batchWindowMs?: number | undefined;
}

/** Starts all event sources; returns a function that stops them. */
export const startEventSources = ({
  eventSources,
  url,
  writes,
  batchWindowMs = Number.POSITIVE_INFINITY,
  ...common
}: EventSourcesOptions): (() => void) => {
  const call = createDatabaseCalls(url, SILENCE_MS);
  const stops = eventSources.map((source) =>
    startEventSource({
      ...common,
      source: { ...source, windowMs: Math.min(source.windowMs, batchWindowMs) },
      reader: createStreamReader(call, source.tableName),
      table: writes?.watch(source.tableName),
    }),
  );
  return () => {
    for (const stop of stops) stop();
  };
};
