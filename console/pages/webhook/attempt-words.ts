import type { ReplyBody } from '../../client/routes.ts';

export type Delivery = ReplyBody<'GET /v1/webhooks/{id}/deliveries'>['data'][number];
type Attempt = Delivery['attempts'][number];

const ERRORS: Readonly<Record<NonNullable<Attempt['error']>, string>> = {
  url_refused: 'The URL is not allowed.',
  address_refused: "The host has an address that isn't on the public internet.",
  dns_failed: "The host has no address, or its DNS servers don't answer.",
  connection_failed: 'The connection was refused or dropped.',
  tls_failed: 'The certificate is not valid for the host.',
  timed_out: 'There was no response within 10 seconds.',
  webhook_disabled: 'The webhook was paused when the attempt was due.',
  organization_suspended: 'The organization was suspended when the attempt was due.',
};

/** The result of an attempt: the status of the response, or why there was none. */
export const attemptText = ({ status, error }: Attempt): string => {
  if (error !== null) return ERRORS[error] ?? error;
  return status === null ? 'No response' : `Status ${status}`;
};

const AWAITED_FOR_S = 120;

/**
 * True while a delivery changes by itself within minutes.
 * @param event a test that was sent, which has no delivery yet
 * @param nowS Unix seconds
 */
export const isMoving = (deliveries: readonly Delivery[], event: string | undefined, nowS: number): boolean =>
  (event !== undefined && !deliveries.some((delivery) => delivery.event === event)) ||
  deliveries.some(({ next_attempt_at }) => next_attempt_at !== null && next_attempt_at - nowS < AWAITED_FOR_S);
