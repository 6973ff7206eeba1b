import { type Attempt, type Delivery, MAX_ATTEMPTS_KEPT } from '../../../shared/notifications/delivery.ts';
import { waitAfter } from '../back-off.ts';

/** The status of a receiver that wants no more events. */
export const GONE = 410;

const isSuccess = ({ status }: Attempt): boolean => status !== null && status >= 200 && status < 300;
// No later attempt can succeed.
const isFinal = ({ status, error }: Attempt): boolean =>
  status === GONE || error === 'webhook_disabled' || error === 'organization_suspended';

/**
 * The changes of a delivery after an attempt.
 * @param current the row now
 * @param begun the row's number of attempts when this one began: if it differs now, the delivery was replayed
 * meanwhile, and a failure has no effect on its state
 * @param random from 0 to 1
 */
export const afterAttempt = (current: Delivery, begun: number, attempt: Attempt, nowMs: number, random: number): Partial<Delivery> => {
  const attempts = [...current.attempts, attempt].slice(-MAX_ATTEMPTS_KEPT);
  if (isSuccess(attempt)) return { attempts, state: 'delivered', delivered_at: nowMs, leased_until: 0 };
  if (current.begun !== begun) return { attempts };
  const waitMs = isFinal(attempt) ? undefined : waitAfter(begun, random);
  if (waitMs === undefined) return { attempts, state: 'dead', leased_until: 0 };
  return { attempts, next_attempt_at: nowMs + waitMs, leased_until: 0 };
};
