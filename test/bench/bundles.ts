import { readFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import type { LambdaFunction } from '../../infra/assembly/local-app.ts';
import { bundleFiles } from '../support/assembly/bundle-files.ts';
import { sum } from './lib/statistics.ts';

const BYTES_PER_KB = 1_000;

interface Size {
  minified: number;
  gzipped: number;
}

const sizeKb = (files: Iterable<string>): Size => {
  const contents = [...files].map((file) => readFileSync(file));
  const total = (lengths: number[]): number => sum(lengths) / BYTES_PER_KB;
  return { minified: total(contents.map(({ length }) => length)), gzipped: total(contents.map((bytes) => gzipSync(bytes).length)) };
};

/**
 * The size of a bundle without its source maps, in kB of 1,000 bytes: of the files that its start loads, and of all.
 */
export const bundleSizes = (fn: LambdaFunction): { start: Size; all: Size } => {
  const { start, later } = bundleFiles(fn);
  return { start: sizeKb(start), all: sizeKb([...start, ...later]) };
};
