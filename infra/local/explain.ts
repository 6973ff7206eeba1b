const MAX_CAUSES = 5;

// Outermost first.
const chainOf = (error: unknown): NodeJS.ErrnoException[] => {
  const chain: NodeJS.ErrnoException[] = [];
  for (let cause = error; cause instanceof Error && chain.length < MAX_CAUSES; cause = cause.cause) chain.push(cause);
  return chain;
};

const DISK_FULL = /\b(ENOSPC|EDQUOT|no space left on device|disk is full)\b/i;

/** An error of `npm start` in one line that says what to do, if that is known; otherwise its message. */
export const explain = (error: unknown): string => {
  const chain = chainOf(error);
  const [outermost] = chain;
  if (!outermost) return String(error);
  const withCode = (code: string) => chain.find((cause) => cause.code === code) as (NodeJS.ErrnoException & { port?: number }) | undefined;
  const busy = withCode('EADDRINUSE');
  if (busy) return `Port ${busy.port} is in use. Choose another one with --port, or use --port 0 for any free port.`;
  const isFull = ({ code = '', message }: NodeJS.ErrnoException): boolean => DISK_FULL.test(code) || DISK_FULL.test(message);
  const full = chain.find((cause) => isFull(cause) && cause.path) ?? chain.find(isFull);
  if (full)
    return `The disk is full${full.path ? `: ${full.path} cannot be written` : ''}. Free some space, or choose a folder on another disk with --state.`;
  const missing = withCode('ENOENT');
  if (missing?.syscall?.startsWith('spawn'))
    return `The program ${missing.path} is missing. Install this project's packages again with 'npm ci'.`;
  const [, cause] = chain;
  return cause && !outermost.message.endsWith('.') ? `${outermost.message}: ${cause.message}` : outermost.message;
};
