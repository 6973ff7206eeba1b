import { createHash } from 'node:crypto';
import { cpSync, existsSync, renameSync, rmSync } from 'node:fs';
import path from 'node:path';

/**
 * The variable that names a folder for bundles of the same sources. Without it, as when the app is deployed, each
 * synthesis makes all of them.
 */
export const KEPT_BUNDLES = 'SLUICE_KEPT_BUNDLES';

/**
 * Makes a bundle in a folder, or copies the one that an earlier synthesis of the same sources made.
 * @param wanted what the bundle depends on besides its sources
 * @param make makes it in the folder
 */
export const keepBundle = (wanted: object, folder: string, make: () => void): void => {
  const { [KEPT_BUNDLES]: keptIn } = process.env;
  if (keptIn === undefined) {
    make();
    return;
  }
  const kept = path.join(keptIn, createHash('sha256').update(JSON.stringify(wanted)).digest('hex').slice(0, 32));
  if (existsSync(kept)) {
    cpSync(kept, folder, { recursive: true });
    return;
  }
  make();
  const draft = `${kept}.${process.pid}`;
  cpSync(folder, draft, { recursive: true });
  try {
    renameSync(draft, kept);
  } catch {
    // Another synthesis has just kept the same one.
    rmSync(draft, { recursive: true, force: true });
  }
};
