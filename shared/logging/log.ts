import { originalStack } from './original-stack.ts';

type Facts = Record<string, unknown>;

const toText = (_: string, value: unknown): unknown => (typeof value === 'bigint' ? value.toString() : value);

let output: 'stdout' | 'stderr' = 'stdout';

const toJson = (record: Facts): string => {
  try {
    return JSON.stringify(record);
  } catch {
    // Facts with a bigint. To call a function for each value takes several times as long.
    return JSON.stringify(record, toText);
  }
};

const write = (level: string, message: string, facts: Facts) =>
  process[output].write(`${toJson({ timestamp: new Date().toISOString(), level, message, ...facts })}\n`);

/** Writes log lines to standard error until it is disposed: standard output is for the result of a command. */
export const logToStandardError = (): Disposable => {
  output = 'stderr';
  return {
    [Symbol.dispose]: () => {
      output = 'stdout';
    },
  };
};

/** One structured line on standard output. Never pass a secret, a prompt or an answer. */
export const logInfo = (message: string, facts: Facts = {}): void => void write('INFO', message, facts);

// A stack begins with the message, which can quote a caller's text.
const framesOf = ({ name, message, stack = '' }: Error): string | undefined => {
  const head = message === '' ? name : `${name}: ${message}`;
  return stack.startsWith(`${head}\n`) ? originalStack(stack.slice(head.length + 1)) : undefined;
};

const MAX_CAUSES = 3;

// The message of an error for callers says nothing about its cause. A syntax error quotes the text that could not be
// parsed, which can be a prompt or an answer.
const withCauses = ({ message, cause }: Error): string => {
  let text = message;
  for (let next = cause, depth = 0; next instanceof Error && depth < MAX_CAUSES; next = next.cause, depth++)
    if (!text.includes(next.message)) text += ` Cause: ${next instanceof SyntaxError ? next.name : `${next.name}: ${next.message}`}`;
  return text;
};

/** Logs a failure that someone may have to investigate, with its causes. */
export const logError = (message: string, error: unknown, facts: Facts = {}): void => {
  if (error instanceof SyntaxError)
    write('ERROR', message, { ...facts, error: error.name, detail_length: error.message.length, stack: framesOf(error) });
  else if (error instanceof Error)
    write('ERROR', message, { ...facts, error: error.name, detail: withCauses(error), stack: error.stack && originalStack(error.stack) });
  else write('ERROR', message, { ...facts, detail: String(error) });
};
