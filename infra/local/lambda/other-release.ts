import { readFile } from 'node:fs/promises';
import path from 'node:path';
import * as z from 'zod';
import type { LambdaFunction } from '../../assembly/local-app.ts';
import type { ManagedSettings } from '../http/serve-settings.ts';

/** The file that describes the bundles of a release, next to their folders. */
export const RELEASE_FILE = 'release.json';

/** A release as it was deployed: its functions with their variables, and the folders of their bundles. */
export const Release = z.object({
  version: z.string(),
  functions: z.array(
    z.object({
      shortName: z.string(),
      folder: z.string(),
      handler: z.string(),
      environment: z.record(z.string(), z.string()),
      timeoutMs: z.int(),
      memoryMiB: z.int(),
    }),
  ),
});
export type Release = z.infer<typeof Release>;

/**
 * Reads the functions of another release, as versions of the functions of this one. A function that this one does not
 * have is left out.
 * @param folder with `release.json`
 * @throws Error if the folder has no such file, ZodError if it has another shape
 */
export const readOtherRelease = async (folder: string, functions: readonly LambdaFunction[]): Promise<LambdaFunction[]> => {
  const release = Release.parse(JSON.parse(await readFile(path.join(folder, RELEASE_FILE), 'utf8')));
  return release.functions.flatMap((own) => {
    const current = functions.find(({ shortName }) => shortName === own.shortName);
    return current ? [{ ...current, ...own, folder: path.resolve(folder, own.folder) }] : [];
  });
};

const Shares = z.strictObject({
  /** The share of the invocations of each function that the other release gets. */
  other_share: z.number().min(0).max(1).default(0),
});

/**
 * Which of two releases gets an invocation, as the weights of an alias decide on AWS, but in turns instead of at
 * random.
 */
export interface ReleaseShares {
  /** True if the other release gets the next invocation of a function. */
  picksOther(shortName: string): boolean;
  settings: ManagedSettings<z.output<typeof Shares>>;
}

export const createReleaseShares = (): ReleaseShares => {
  let share = 0;
  const due = new Map<string, number>();
  const invocations: Record<string, { own: number; other: number }> = {};
  const set = (value: number): void => {
    share = value;
    due.clear();
  };
  return {
    picksOther: (shortName) => {
      const sum = (due.get(shortName) ?? 0) + share;
      const isOther = sum >= 1;
      due.set(shortName, isOther ? sum - 1 : sum);
      invocations[shortName] ??= { own: 0, other: 0 };
      invocations[shortName][isOther ? 'other' : 'own']++;
      return isOther;
    },
    settings: {
      schema: Shares,
      set: ({ other_share }) => set(other_share),
      reset: () => set(0),
      show: () => ({ other_share: share, invocations }),
    },
  };
};
