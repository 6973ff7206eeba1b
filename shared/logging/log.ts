import { createOriginalStack } from './original-stack.ts';

type Facts = Record<string, unknown>;

const toText = (_: string, value: unknown): unknown => (typeof value === 'bigint' ? value.toString() : value);

const line = (level: string, message: string, facts: Facts): string => {
  const record: Facts = { timestamp: new Date().toISOString(), level, message };
  // Serializing without a function for each value takes a fraction of the time, so the usual bigints are converted here.
  for (const name in facts) record[name] = toText(name, facts[name]);
  try {
    return JSON.stringify(record);
  } catch {
    return JSON.stringify(record, toText);
  }
};

/** One structured line on standard output. Never pass a secret, a prompt or an answer. */
export const logInfo = (message: string, facts: Facts = {}): void => {
  process.stdout.write(`${line('INFO', message, facts)}\n`);
};

const originalStack = createOriginalStack();

/** Logs a failure that someone may have to investigate, with its cause. */
export const logError = (message: string, error: unknown, facts: Facts = {}): void => {
  const cause =
    error instanceof Error
      ? { error: error.name, detail: error.message, stack: error.stack && originalStack(error.stack) }
      : { detail: String(error) };
  process.stdout.write(`${line('ERROR', message, { ...facts, ...cause })}\n`);
};
