import { originalStack } from './original-stack.ts';

type Facts = Record<string, unknown>;

const toText = (_: string, value: unknown): unknown => (typeof value === 'bigint' ? value.toString() : value);

const line = (level: string, message: string, facts: Facts): string => {
  const record = { timestamp: new Date().toISOString(), level, message, ...facts };
  try {
    return JSON.stringify(record);
  } catch {
    // Facts with a bigint. To call a function for each value takes several times as long.
    return JSON.stringify(record, toText);
  }
};

/** One structured line on standard output. Never pass a secret, a prompt or an answer. */
export const logInfo = (message: string, facts: Facts = {}): void => {
  process.stdout.write(`${line('INFO', message, facts)}\n`);
};

const logFailure = (message: string, facts: Facts): void => void process.stdout.write(`${line('ERROR', message, facts)}\n`);

// A stack begins with the message, which can quote a caller's text.
const framesOf = ({ name, message, stack = '' }: Error): string | undefined => {
  const head = message === '' ? name : `${name}: ${message}`;
  return stack.startsWith(`${head}\n`) ? originalStack(stack.slice(head.length + 1)) : undefined;
};

/** Logs a failure that someone may have to investigate, with its cause. */
export const logError = (message: string, error: unknown, facts: Facts = {}): void => {
  // A syntax error quotes the text that could not be parsed, which can be a prompt or an answer.
  if (error instanceof SyntaxError)
    logFailure(message, { ...facts, error: error.name, detail_length: error.message.length, stack: framesOf(error) });
  else if (error instanceof Error)
    logFailure(message, { ...facts, error: error.name, detail: error.message, stack: error.stack && originalStack(error.stack) });
  else logFailure(message, { ...facts, detail: String(error) });
};
