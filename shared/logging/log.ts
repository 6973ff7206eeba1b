type Facts = Record<string, unknown>;

const line = (level: string, message: string, facts: Facts): string =>
  JSON.stringify({ timestamp: new Date().toISOString(), level, message, ...facts }, (_, value: unknown) =>
    typeof value === 'bigint' ? value.toString() : value,
  );

/** One structured line on standard output. Never pass a secret, a prompt or an answer. */
export const logInfo = (message: string, facts: Facts = {}): void => {
  process.stdout.write(`${line('INFO', message, facts)}\n`);
};

/** Logs a failure that someone may have to investigate, with its cause. */
export const logError = (message: string, error: unknown, facts: Facts = {}): void => {
  const cause = error instanceof Error ? { error: error.name, detail: error.message, stack: error.stack } : { detail: String(error) };
  process.stdout.write(`${line('ERROR', message, { ...facts, ...cause })}\n`);
};
