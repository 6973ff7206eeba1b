import { createHash } from 'node:crypto';
import { existsSync, globSync, readFileSync } from 'node:fs';
import { mkdir, readdir, readFile, rename, rm, stat, utimes, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { isAlive } from '../processes/is-alive.ts';
import { type Settings, synthesize } from './synthesize.ts';

/** What the app is made of. Its tools, the emulators and the model server are no part of it; a lint rule keeps the app from importing them. */
const SOURCES = [
  'infra/app.ts',
  'infra/{bundling,config,constructs,reference,stacks}/**/*',
  '{functions,shared}/**/*',
  'cdk.json',
  'package.json',
  'package-lock.json',
];
/** Under the project's root. Not in `node_modules`: source maps would not say which sources are of packages. */
const KEPT_FOLDER = '.sluice/assemblies';
const MAX_KEPT = 64;
const POLL_MS = 50;
/** Written last, so an assembly that has it is whole. */
const LAST_FILE = 'kept.json';

interface KeptSettings extends Pick<Settings, 'context' | 'environment'> {
  /** Where assemblies are kept. Default: `KEPT_FOLDER` of the project. */
  keptIn?: string;
}

/** Hashes sources by their paths and contents. */
const hashSources = (projectRoot: string): string => {
  const hash = createHash('sha256').update(process.version);
  const files = SOURCES.flatMap((pattern) => globSync(pattern, { cwd: projectRoot, withFileTypes: true }))
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

/** Whether a folder has a whole assembly. */
export const isKept = (folder: string): boolean => existsSync(path.join(folder, LAST_FILE));

/** Whether this process is the one that writes the folder. @returns false if another process has just written it, or is doing so */
const takeLock = async (lock: string): Promise<boolean> => {
  try {
    await writeFile(lock, String(process.pid), { flag: 'wx' });
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
  const owner = Number(await readFile(lock, 'utf8').catch(() => ''));
  // A process that was killed left its lock. An empty lock is being written.
  if (owner > 0 && !isAlive(owner)) await rm(lock, { force: true });
  return false;
};

/** Removes the assemblies that were not used for the longest time. */
const removeOld = async (keptIn: string): Promise<void> => {
  const names = (await readdir(keptIn, { withFileTypes: true })).filter((entry) => entry.isDirectory()).map(({ name }) => name);
  const used = await Promise.all(
    names.map(async (name) => ({ name, at: (await stat(path.join(keptIn, name)).catch(() => undefined))?.mtimeMs ?? 0 })),
  );
  const old = used.sort((one, other) => other.at - one.at).slice(MAX_KEPT);
  for (const { name } of old) await rm(path.join(keptIn, name), { recursive: true, force: true });
};

/**
 * Returns a folder with the cloud assembly of the app as it is now, which must not be changed. It is synthesized only if there is none yet for the same
 * sources and context. Processes that need it at the same time wait for one synthesis.
 * @param projectRoot the folder of cdk.json
 * @throws Error with the app's error output if it fails
 */
export const keptAssembly = async (projectRoot: string, settings: KeptSettings = {}): Promise<string> => {
  const folder = keptFolderOf(projectRoot, settings);
  const keptIn = path.dirname(folder);
  const lock = `${folder}.lock`;
  await mkdir(keptIn, { recursive: true });
  while (!isKept(folder)) {
    if (!(await takeLock(lock))) {
      await delay(POLL_MS);
      continue;
    }
    const draft = `${folder}.draft`;
    try {
      if (isKept(folder)) break;
      await rm(draft, { recursive: true, force: true });
      await synthesize(projectRoot, draft, settings);
      await writeFile(path.join(draft, LAST_FILE), JSON.stringify({ context: settings.context ?? {} }));
      await rename(draft, folder);
      await removeOld(keptIn);
    } finally {
      await rm(draft, { recursive: true, force: true });
      await rm(lock, { force: true });
    }
  }
  const now = new Date();
  await utimes(folder, now, now);
  return folder;
};
