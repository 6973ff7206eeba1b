import { type ApiEvent, headerOf } from './api-event.ts';
import { InvalidRequest, PreconditionFailed } from './errors.ts';

/** A resource with a version, counted from 1, that every change increments. */
export interface Versioned {
  version: number;
}

/** The entity tag of a resource's version. */
export const versionTag = (version: number): string => `"${version}"`;

/**
 * The versions in `If-Match`; undefined: any version. @throws 400 for anything but ETags, such as an empty header
 * from an empty variable
 */
export const expectedVersions = (event: ApiEvent): readonly number[] | undefined => {
  const header = headerOf(event, 'if-match')?.trim();
  if (header === undefined || header === '*') return undefined;
  return header.split(',').map((tag) => {
    const [, version] = /^\s*"(\d{1,15})"\s*$/.exec(tag) ?? [];
    if (version === undefined)
      throw new InvalidRequest({
        param: 'If-Match',
        message:
          'If-Match must be the ETag of an earlier response, including the quotation marks. Leave the header out to change any version.',
      });
    return Number(version);
  });
};

/** Returns the resource if it has a version that the caller expects. @throws 412 */
export const checkVersion = <Resource extends Versioned>(resource: Resource, expected: readonly number[] | undefined): Resource => {
  if (expected && !expected.includes(resource.version)) throw new PreconditionFailed();
  return resource;
};

/**
 * Makes a change, and makes it again from what it then reads if another change came between. @throws 412 if that
 * happens each time; what the change throws
 */
export const retryChanged = async <Result>(maxTries: number, change: () => Promise<Result>): Promise<Result> => {
  for (let tries = 1; ; tries++) {
    try {
      return await change();
    } catch (error) {
      if (!(error instanceof PreconditionFailed) || tries === maxTries) throw error;
    }
  }
};
