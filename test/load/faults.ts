/**
 * Kinds of faults that a load can find.
 * - `lost`: a caller did not get its whole reply, or got an error that its limits don't explain
 * - `crossed`: a caller got a reply, or a part of it, that is not its own
 * - `miscounted`: a reply tells other tokens than the request has
 * - `unbilled`: an admitted request without an event
 * - `unexplained`: an event without an admitted request, or a second one
 * - `mischarged`: an event whose tokens are not its reply's, or whose cost is not its price × its tokens
 * - `unbalanced`: a limiter, a credit or a total that differs from the sum of the events, or a request that stays in
 * flight
 * - `growing`: the memory of a function grows with its requests
 */
export const FAULTS = ['lost', 'crossed', 'miscounted', 'unbilled', 'unexplained', 'mischarged', 'unbalanced', 'growing'] as const;

export interface Fault {
  kind: (typeof FAULTS)[number];
  detail: string;
}

/** The fault if the condition holds. */
export const faultIf = (isFault: boolean, kind: Fault['kind'], detail: string): Fault[] => (isFault ? [{ kind, detail }] : []);
