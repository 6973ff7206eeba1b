import { mkdtempSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';

/** A new folder that is removed when the scope ends. */
export const temporaryFolder = (): AsyncDisposable & { readonly path: string } => {
  const folder = mkdtempSync(path.join(tmpdir(), 'sluice-test-'));
  return { path: folder, [Symbol.asyncDispose]: () => rm(folder, { recursive: true, force: true }) };
};
