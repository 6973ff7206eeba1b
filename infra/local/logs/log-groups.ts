/** An event of a log stream. */
export interface LogEvent {
  id: string;
  /** In milliseconds since the epoch. */
  timestamp: number;
  message: string;
}

interface LogStream {
  name: string;
  createdAt: number;
  events: LogEvent[];
}

export interface LogGroup {
  name: string;
  createdAt: number;
  /** The streams of now, by name. */
  streams(): ReadonlyMap<string, LogStream>;
}

/**
 * The log groups of the account. As on AWS, a group exists from its first line on, and outlives the resource that
 * wrote it.
 */
export interface LogGroups {
  groups: ReadonlyMap<string, LogGroup>;
  /** Appends lines of one time; creates the group and the stream if they do not exist. */
  write(group: string, stream: string, timestamp: number, lines: readonly string[]): void;
  clear(): void;
}

// The oldest events of a stream are dropped beyond this number.
const MAX_EVENTS_PER_STREAM = 10_000;

/** @param lasting groups that are written elsewhere, and that `clear` keeps */
export const createLogGroups = (lasting: readonly LogGroup[] = []): LogGroups => {
  const groups = new Map<string, LogGroup>();
  const written = new Map<string, Map<string, LogStream>>();
  let events = 0;
  const clear = (): void => {
    groups.clear();
    written.clear();
    for (const group of lasting) groups.set(group.name, group);
  };
  clear();
  const streamsOf = (name: string, createdAt: number): Map<string, LogStream> => {
    const streams = written.get(name) ?? new Map<string, LogStream>();
    written.set(name, streams);
    if (!groups.has(name)) groups.set(name, { name, createdAt, streams: () => streams });
    return streams;
  };
  return {
    groups,
    write(groupName, streamName, timestamp, lines) {
      const streams = streamsOf(groupName, timestamp);
      const stream = streams.get(streamName) ?? { name: streamName, createdAt: timestamp, events: [] };
      streams.set(streamName, stream);
      for (const message of lines) {
        events += 1;
        stream.events.push({ id: String(events).padStart(20, '0'), timestamp, message });
      }
      if (stream.events.length > MAX_EVENTS_PER_STREAM) stream.events.splice(0, stream.events.length - MAX_EVENTS_PER_STREAM);
    },
    clear,
  };
};
