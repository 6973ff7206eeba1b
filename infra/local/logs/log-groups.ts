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
  streams: Map<string, LogStream>;
}

/** The log groups of the account. As on AWS, a group exists from its first line on, and outlives the resource that wrote it. */
export interface LogGroups {
  groups: ReadonlyMap<string, LogGroup>;
  /** Appends lines of one time; creates the group and the stream if they do not exist. */
  write(group: string, stream: string, timestamp: number, lines: readonly string[]): void;
  clear(): void;
}

/** The oldest events of a stream are dropped beyond this number. */
const MAX_EVENTS_PER_STREAM = 10_000;

export const createLogGroups = (): LogGroups => {
  const groups = new Map<string, LogGroup>();
  let events = 0;
  const open = (name: string, createdAt: number): LogGroup => {
    const group = groups.get(name) ?? { name, createdAt, streams: new Map() };
    groups.set(name, group);
    return group;
  };
  return {
    groups,
    write(groupName, streamName, timestamp, lines) {
      const { streams } = open(groupName, timestamp);
      const stream = streams.get(streamName) ?? { name: streamName, createdAt: timestamp, events: [] };
      streams.set(streamName, stream);
      for (const message of lines) {
        events += 1;
        stream.events.push({ id: String(events).padStart(20, '0'), timestamp, message });
      }
      if (stream.events.length > MAX_EVENTS_PER_STREAM) stream.events.splice(0, stream.events.length - MAX_EVENTS_PER_STREAM);
    },
    clear: () => groups.clear(),
  };
};
