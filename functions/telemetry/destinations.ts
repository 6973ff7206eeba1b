import * as z from 'zod';

/** Where a signal is sent to, and how the sender authenticates itself there. */
export const Destination = z.strictObject({
  signal: z.enum(['traces', 'metrics']),
  url: z.url(),
  /** The service and region that a request is signed for with Signature Version 4. */
  aws: z.strictObject({ service: z.string(), region: z.string() }).optional(),
  /** The secret with the headers to send, as an object in JSON. */
  headersSecretArn: z.string().optional(),
});
export type Destination = z.output<typeof Destination>;

/** The variable with the destinations, as an array in JSON; the function's construct writes it. */
export const DESTINATIONS_VARIABLE = 'TELEMETRY_DESTINATIONS';
/** The variable with the URL of the queue of a destination, by the destination's place in the array. */
export const queueVariable = (index: number): string => `TELEMETRY_QUEUE_${index}`;

export const readDestinations = (text: string): Destination[] => z.array(Destination).parse(JSON.parse(text));
