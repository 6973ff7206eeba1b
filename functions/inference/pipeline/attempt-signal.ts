/** A controller for one of several attempts, and how to let go of the request's. */
interface Attempt {
  attempt: AbortController;
  release: () => void;
}

/** It is aborted with the request; but a failed attempt, which aborts its own signal, does not stop the next one. */
export const attemptSignal = ({ signal }: AbortController): Attempt => {
  const attempt = new AbortController();
  const abort = (): void => attempt.abort(signal.reason);
  if (signal.aborted) abort();
  signal.addEventListener('abort', abort, { once: true });
  return { attempt, release: () => signal.removeEventListener('abort', abort) };
};
