/** The last event of a stream, as interface 6 has it. */
export const DONE = 'data: [DONE]\n\n';

/** A line that readers pass over; it keeps proxies and API Gateway from closing a silent connection. */
export const KEEP_ALIVE = ': keep-alive\n\n';

/** One server-sent event carrying JSON. It goes out in one write: some readers forget a half-read event at each TCP read. */
export const sseEvent = (data: unknown): string => `data: ${JSON.stringify(data)}\n\n`;
