interface Attempt {
  attempt: AbortController;
  release: () => void;
}

/**
 * A controller for one of several attempts. It is aborted with the request; a failed attempt that aborts its own
 * doesn't stop the next one. `release` ends the link to the request's controller.
 */
export const attemptSignal = ({ signal }: AbortController): Attempt => {
  const attempt = new AbortController();
  const abort = (): void => attempt.abort(signal.reason);
  if (signal.aborted) abort();
  signal.addEventListener('abort', abort, { once: true });
  return { attempt, release: () => signal.removeEventListener('abort', abort) };
};
