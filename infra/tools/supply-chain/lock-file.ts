import * as z from 'zod';

const Entry = z.looseObject({
  version: z.string().optional(),
  integrity: z.string().optional(),
  resolved: z.string().optional(),
  license: z.string().optional(),
  link: z.boolean().optional(),
  inBundle: z.boolean().optional(),
});
export type Entry = z.infer<typeof Entry>;

/** The parts of package-lock.json that are checked: its entries by their folders, the project's own under `''`. */
export const LockFile = z.looseObject({ packages: z.record(z.string(), Entry) });
export type LockFile = z.infer<typeof LockFile>;

const IN_PACKAGES = 'node_modules/';
const SHA512 = /^sha512-[A-Za-z0-9+/]{86}==$/;

/** The entries of packages that others made: not the project's own, nor those of folders of this repository. */
export const foreignEntries = ({ packages }: LockFile): [folder: string, entry: Entry][] =>
  Object.entries(packages).filter(([folder, { link }]) => folder.startsWith(IN_PACKAGES) && !link);

// The hash of an archive covers the packages inside it.
const isInsideArchive = ({ packages }: LockFile, folder: string, { inBundle }: Entry): boolean => {
  if (!inBundle) return false;
  for (let at = folder.lastIndexOf(`/${IN_PACKAGES}`); at > 0; at = folder.lastIndexOf(`/${IN_PACKAGES}`, at - 1))
    if (packages[folder.slice(0, at)]?.integrity !== undefined) return true;
  return false;
};

/** Lists packages without the SHA-512 of their archive, or from elsewhere than the registry. */
export const lockFileFaults = (lock: LockFile): string[] =>
  foreignEntries(lock).flatMap(([folder, entry]) => {
    const { version = '?', integrity, resolved } = entry;
    const name = `${folder} ${version}`;
    // .npmrc leaves addresses of the registry out.
    if (resolved !== undefined)
      return [`${name} comes from ${resolved}, and not from the registry. Use a version that is published there.`];
    if (integrity === undefined && isInsideArchive(lock, folder, entry)) return [];
    return SHA512.test(integrity ?? '')
      ? []
      : [
          `${name} has no SHA-512 in package-lock.json, so npm would take whatever it gets. Add "integrity", as npm view ${name.slice(name.lastIndexOf(IN_PACKAGES) + IN_PACKAGES.length).replace(' ', '@')} dist.integrity prints it.`,
        ];
  });
