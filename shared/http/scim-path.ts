/** Where a host serves SCIM 2.0: the URL that identity providers are given ends with it. */
export const SCIM_BASE = '/scim/v2';

/** The content type of SCIM, in both directions (RFC 7644, section 3.1). */
export const SCIM_CONTENT_TYPE = 'application/scim+json';

/** True for paths whose callers expect errors in the shape of SCIM; also for unknown ones below `/scim`. */
export const isScimPath = (path: string): boolean => /^\/scim(?:\/|$)/.test(path);
