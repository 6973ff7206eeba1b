import type { Outcome } from '../../../../shared/usage/event.ts';
import type { Cell } from './measure.ts';

const DOCUMENTED = new Set<number | 'cut'>([200, 201, 401, 404, 429, 503, 'cut']);

// At the end of the function's time, an answer is cut off and ends as at a limit of tokens.
const WHOLE = new Set<Outcome>(['completed', 'timed_out']);

/** The promises of every cell, which hold whatever the table says. Returns those that the cell breaks. */
export const brokenPromises = (cell: Cell): string[] => {
  const { fault, route, reply, admitted, events, next } = cell;
  const [event] = events;
  const isSpared = route.kind !== undefined && fault.spares?.includes(route.kind) === true;
  const eventIds = events.map(({ request_id }) => request_id).toSorted();
  const promises: Record<string, boolean> = {
    'the status is documented': DOCUMENTED.has(reply.status),
    'only a model that does not exist is not found': reply.status !== 404 || fault.isModelAbsent === true,
    'only the clock ends a session or makes a token invalid': reply.status !== 401 || fault.clockOffsetMs !== undefined,
    'a key that is announced exists, and none exists twice': cell.createdKeys === 1 || (cell.createdKeys === 0 && reply.status !== 201),
    'an error has the documented body and says nothing internal': reply.isDocumented,
    'a 429 or 503 says when to retry': ![429, 503].includes(Number(reply.status)) || /^\d+$/.test(reply.retryAfter ?? ''),
    'a reply that is not complete has an error or is cut': reply.isComplete || reply.code !== null || reply.status === 'cut',
    'each admitted request has exactly one event': eventIds.join() === admitted.toSorted().join(),
    'the sum of the events is what the limiter has counted': events.reduce((sum, { cost_nanos }) => sum + cost_nanos, 0n) === cell.spent,
    'nothing is in flight after the sweep': cell.inFlightAfterSweep === 0,
    'the next request succeeds': next.isComplete,
  };
  if (!route.isCharged) promises['a request that generates nothing is free'] = cell.spent === 0n;
  else {
    if (fault.isSwept && !isSpared) promises['a request that only the sweep settles is free'] = cell.spent === 0n;
    else
      promises['a complete reply has an event that says so, and is charged'] =
        !reply.isComplete || (event !== undefined && WHOLE.has(event.outcome) && event.cost_nanos > 0n);
    promises['a failed request that is not streamed costs nothing'] = reply.isComplete || route.stream || cell.spent === 0n;
    promises['a request that failed before its first byte costs nothing'] = reply.status === 200 || cell.spent === 0n;
    const metered = isSpared ? 'succeeds' : fault.metered;
    if (metered !== 'either') promises[`the request ${metered}`] = reply.isComplete === (metered === 'succeeds');
  }
  return Object.entries(promises).flatMap(([promise, isKept]) => (isKept ? [] : [promise]));
};
