/** The last event of a stream (interface 6). */
export const DONE = 'data: [DONE]\n\n';

/** A comment, which readers skip. It keeps proxies and API Gateway from closing an idle connection. */
export const KEEP_ALIVE = ': keep-alive\n\n';

/**
 * One server-sent event with JSON. It is sent in one write, because some readers lose events that are split over two
 * TCP reads.
 */
export const sseEvent = (data: unknown): string => `data: ${JSON.stringify(data)}\n\n`;
