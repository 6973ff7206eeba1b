import { createHash } from 'node:crypto';
import { cpSync, existsSync, renameSync, rmSync } from 'node:fs';
import path from 'node:path';
import { takeLock } from './take-lock.ts';

/**
 * The variable that names a folder for bundles of the same sources. Without it, as when the app is deployed, each
 * synthesis makes all of them.
 */
export const KEPT_BUNDLES = 'SLUICE_KEPT_BUNDLES';

const POLL_MS = 20;
// Many times as long as a bundle takes. After it, each synthesis makes its own.
const MAX_WAIT_MS = 120_000;

// CDK bundles without promises.
const waitMs = (ms: number): void => void Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);

/**
 * Makes a bundle in a folder, or copies the one that another synthesis of the same sources made, or is making.
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
  const lock = `${kept}.lock`;
  const start = performance.now();
  let release: (() => void) | undefined;
  while (!existsSync(kept) && performance.now() - start < MAX_WAIT_MS) {
    const taken = takeLock(lock);
    if (typeof taken === 'function') {
      release = taken;
      break;
    }
    waitMs(POLL_MS * (1 + Math.random()));
  }
  try {
    if (existsSync(kept)) cpSync(kept, folder, { recursive: true });
    else makeAndKeep(kept, folder, make);
  } finally {
    release?.();
  }
};

const makeAndKeep = (kept: string, folder: string, make: () => void): void => {
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
