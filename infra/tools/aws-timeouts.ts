/** How long a program of operators waits for a connection to AWS, in milliseconds. Functions wait less. */
export const CONNECT_MS = 5_000;

/** How long it waits for a reply of AWS. A busy machine can be late, and a rebuild reads and writes much at a time. */
export const REQUEST_MS = 15_000;

/** Both for a client of the AWS SDK. */
export const REQUEST_HANDLER = { connectionTimeout: CONNECT_MS, requestTimeout: REQUEST_MS, throwOnRequestTimeout: true };
