import * as z from 'zod';

/** The endpoint of a signal, and the sender's credentials there. */
export const Destination = z.strictObject({
  signal: z.enum(['traces', 'metrics']),
  url: z.url(),
  /** The service and region for Signature Version 4. */
  aws: z.strictObject({ service: z.string(), region: z.string() }).optional(),
  /** The secret with the headers to send, as a JSON object. */
  headersSecretArn: z.string().optional(),
});
export type Destination = z.output<typeof Destination>;

/** The variable with the destinations, as a JSON array; the function's construct writes it. */
export const DESTINATIONS_VARIABLE = 'TELEMETRY_DESTINATIONS';
/** The variable with the URL of a destination's queue. @param index of the destination in the array */
export const queueVariable = (index: number): string => `TELEMETRY_QUEUE_${index}`;

export const readDestinations = (text: string): Destination[] => z.array(Destination).parse(JSON.parse(text));
