/**
 * The clients of the user pool, which differ in how a user signs in and how long tokens are valid: `api` for people's
 * own programs, `machine` for service accounts, and `browser` for the console, whose refresh tokens are rotated.
 */
export type PoolClient = 'api' | 'machine' | 'browser';

/** The ids of the clients that a function uses. */
export type PoolClientIds = { api: string } & Partial<Record<PoolClient, string>>;
