import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import type { LogGroup } from './log-groups.ts';

// Only the end of a longer log is read.
const MAX_READ_BYTES = 16_777_216;
const STREAM = '[$LATEST]local';

// From the beginning of a line on; empty if there is none.
const endOf = (file: string): string => {
  let handle: number;
  try {
    handle = openSync(file, 'r');
  } catch {
    return '';
  }
  try {
    const { size } = fstatSync(handle);
    const start = Math.max(0, size - MAX_READ_BYTES);
    const buffer = Buffer.alloc(size - start);
    const text = buffer.toString('utf8', 0, readSync(handle, buffer, 0, buffer.length, start));
    return start === 0 ? text : text.slice(text.indexOf('\n') + 1);
  } finally {
    closeSync(handle);
  }
};

// A line without a time is as old as the line before.
const timeIn = (line: string, before: number): number => {
  const [, text] = /^\{"timestamp":"([^"]+)"/.exec(line) ?? [];
  return text === undefined ? before : Date.parse(text);
};

/** The log group of a function, whose lines are read from its file whenever they are needed. */
export const functionLogGroup = (name: string, file: string): LogGroup => ({
  name,
  createdAt: 0,
  streams() {
    let timestamp = 0;
    const lines = endOf(file).split('\n').filter(Boolean);
    const events = lines.map((message, i) => {
      timestamp = timeIn(message, timestamp);
      return { id: String(i).padStart(20, '0'), timestamp, message };
    });
    return new Map([[STREAM, { name: STREAM, createdAt: events[0]?.timestamp ?? 0, events }]]);
  },
});
