import { readFileSync } from 'node:fs';
import path from 'node:path';
import { gzipSync } from 'node:zlib';
import type { LambdaFunction } from '../../infra/local/assembly/local-app.ts';

const BYTES_PER_KB = 1_000;

/** The file from which a function's handler is imported. */
export const bundleFile = ({ folder, handler }: LambdaFunction): string => path.join(folder, `${handler.split('.')[0]}.mjs`);

/** The size of a bundle without its source map, in kB of 1,000 bytes. */
export const bundleSizeKb = (fn: LambdaFunction): { minified: number; gzipped: number } => {
  const bytes = readFileSync(bundleFile(fn));
  return { minified: bytes.length / BYTES_PER_KB, gzipped: gzipSync(bytes).length / BYTES_PER_KB };
};
