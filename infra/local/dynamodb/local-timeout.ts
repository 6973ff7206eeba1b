/**
 * How long a connection or a reply of the emulator can take for code outside functions: nobody waits for it, and a busy
 * machine can take seconds.
 */
export const LOCAL_TIMEOUT_MS = 60_000;
