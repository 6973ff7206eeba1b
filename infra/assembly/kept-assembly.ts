import { createHash } from 'node:crypto';
import { existsSync, globSync, readFileSync } from 'node:fs';
import { mkdir, readdir, rename, rm, stat, utimes, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { makeOnce } from '../bundling/make-once.ts';
import { type Settings, synthesize } from './synthesize.ts';

const SOURCES_OF_BUNDLES = [
  'infra/{bundling,tools/console,tools/reference}/**/*',
  '{console,functions,shared}/**/*',
  'package.json',
  'package-lock.json',
  'tsconfig.json',
];
// A lint rule keeps the app from importing its tools, the emulators and the model server.
const SOURCES_OF_APP = [...SOURCES_OF_BUNDLES, 'infra/app.ts', 'infra/{config,constructs,stacks}/**/*', 'cdk.json'];
// Not in `node_modules`: source maps would not say which sources are of packages.
const KEPT_FOLDER = '.sluice/assemblies';
const BUNDLES_FOLDER = '.sluice/bundles';
const MAX_KEPT = 64;
// The number of states of the sources whose bundles are kept.
const MAX_BUNDLES = 3;
// Written last, so an assembly that has it is whole.
const LAST_FILE = 'kept.json';

interface KeptSettings extends Pick<Settings, 'context'> {
  /** Where assemblies are kept. Default: `KEPT_FOLDER` of the project. */
  keptIn?: string;
  /** Synthesizes one. Default: `synthesize`. */
  synthesize?: (outputFolder: string, settings: Pick<Settings, 'context' | 'bundles'>) => Promise<void>;
}

const hashSources = (projectRoot: string, patterns: readonly string[] = SOURCES_OF_APP): string => {
  const hash = createHash('sha256').update(process.version);
  const files = patterns
    .flatMap((pattern) => globSync(pattern, { cwd: projectRoot, withFileTypes: true }))
    .filter((entry) => entry.isFile())
    .map((entry) => path.join(entry.parentPath, entry.name))
    .sort();
  for (const file of files) hash.update(`\0${path.relative(projectRoot, file)}\0`).update(readFileSync(file));
  return hash.digest('hex');
};

/** The folder in which the assembly of these sources and this context is kept, whether it exists or not. */
export const keptFolderOf = (projectRoot: string, { context = {}, keptIn }: KeptSettings = {}): string => {
  const key = createHash('sha256').update(hashSources(projectRoot)).update(JSON.stringify(context)).digest('hex');
  return path.join(keptIn ?? path.join(projectRoot, KEPT_FOLDER), key.slice(0, 32));
};

/** True if the folder has a whole assembly. */
export const isKept = (folder: string): boolean => existsSync(path.join(folder, LAST_FILE));

// Removes the folders that were not used for the longest time.
const removeOld = async (keptIn: string, most: number): Promise<void> => {
  const names = (await readdir(keptIn, { withFileTypes: true })).filter((entry) => entry.isDirectory()).map(({ name }) => name);
  const used = await Promise.all(
    names.map(async (name) => ({ name, at: (await stat(path.join(keptIn, name)).catch(() => undefined))?.mtimeMs ?? 0 })),
  );
  const old = used.sort((one, other) => other.at - one.at).slice(most);
  for (const { name } of old) await rm(path.join(keptIn, name), { recursive: true, force: true });
};

const openBundles = async (projectRoot: string): Promise<string> => {
  const all = path.join(projectRoot, BUNDLES_FOLDER);
  const folder = path.join(all, hashSources(projectRoot, SOURCES_OF_BUNDLES).slice(0, 32));
  await mkdir(folder, { recursive: true });
  await touch(folder);
  await removeOld(all, MAX_BUNDLES);
  return folder;
};

// The time of a folder's last use decides which folders are removed.
const touch = async (folder: string): Promise<void> => {
  const now = new Date();
  await utimes(folder, now, now);
};

/**
 * Returns a folder with the cloud assembly of the app as it is now, which must not be changed. It is synthesized only
 * if there is none yet for the same sources and context. Processes that need it at the same time wait for one
 * synthesis.
 * @param projectRoot the folder of cdk.json
 * @throws Error with the app's error output if it fails, or if another process doesn't end its synthesis
 */
export const keptAssembly = async (projectRoot: string, settings: KeptSettings = {}): Promise<string> => {
  const { context = {}, synthesize: synthesizeTo = (draft, of) => synthesize(projectRoot, draft, of) } = settings;
  const folder = keptFolderOf(projectRoot, settings);
  const keptIn = path.dirname(folder);
  await mkdir(keptIn, { recursive: true });
  const make = async (): Promise<string> => {
    const draft = `${folder}.draft`;
    try {
      await rm(draft, { recursive: true, force: true });
      await synthesizeTo(draft, { context, bundles: await openBundles(projectRoot) });
      await writeFile(path.join(draft, LAST_FILE), JSON.stringify({ context }));
      await rename(draft, folder);
      await removeOld(keptIn, MAX_KEPT);
    } finally {
      await rm(draft, { recursive: true, force: true });
    }
    return folder;
  };
  await makeOnce({ lock: `${folder}.lock`, task: 'synthesized the app', find: () => (isKept(folder) ? folder : undefined), make });
  await touch(folder);
  return folder;
};
