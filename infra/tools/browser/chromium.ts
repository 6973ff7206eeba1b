import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { brotliDecompressSync } from 'node:zlib';
import { type Browser, chromium, type LaunchOptions } from 'playwright-core';

const root = path.join(import.meta.dirname, '../../..');

// Its own unpacker would take whatever lies in /tmp, of any version.
const packageFolder = path.join(root, 'node_modules/@sparticuz/chromium');
const { version } = JSON.parse(readFileSync(path.join(packageFolder, 'package.json'), 'utf8')) as { version: string };

const ARCHIVES = { 'al2023.tar.br': 'libraries', 'fonts.tar.br': 'fonts' } as const;

const decompressed = (name: string): Buffer => brotliDecompressSync(readFileSync(path.join(packageFolder, 'bin', name)));

const fontsIn = (folder: string): string => `<?xml version="1.0"?>
<!DOCTYPE fontconfig SYSTEM "fonts.dtd">
<fontconfig><dir>${folder}/fonts</dir><cachedir>${folder}/font-cache</cachedir></fontconfig>
`;

// `destination` is the path that the folder has when it is whole.
const unpackTo = (folder: string, destination: string): void => {
  mkdirSync(folder, { recursive: true });
  writeFileSync(path.join(folder, 'chromium'), decompressed('chromium.br'), { mode: 0o755 });
  writeFileSync(path.join(folder, 'fonts.conf'), fontsIn(destination));
  for (const [archive, place] of Object.entries(ARCHIVES)) {
    mkdirSync(path.join(folder, place));
    execFileSync('tar', ['-xf', '-', '-C', path.join(folder, place)], { input: decompressed(archive) });
  }
};

// Once for all workers: whoever is first makes the folder appear whole.
const unpacked = (): string => {
  const folder = path.join(root, 'node_modules/.cache', `chromium-${version}`);
  if (existsSync(folder)) return folder;
  const draft = `${folder}.${process.pid}`;
  unpackTo(draft, folder);
  try {
    renameSync(draft, folder);
  } catch {
    rmSync(draft, { recursive: true, force: true });
  }
  return folder;
};

// Pages here are open for seconds, so that optimizing their scripts costs more time than it saves.
const args = ['--js-flags=--no-opt --no-maglev'];

const isPackaged = process.platform === 'linux' && process.arch === 'x64';

// Elsewhere, the Chrome that is installed.
const optionsFor = (): LaunchOptions => {
  const { SLUICE_CHROME: executablePath } = process.env;
  if (executablePath) return { executablePath };
  if (!isPackaged) return { channel: 'chrome' };
  const folder = unpacked();
  return {
    executablePath: path.join(folder, 'chromium'),
    env: { ...process.env, LD_LIBRARY_PATH: path.join(folder, 'libraries/lib'), FONTCONFIG_PATH: folder } as Record<string, string>,
  };
};

/**
 * Starts a real Chromium: that of an npm package on Linux x64, elsewhere an installed Chrome, or the one that
 * SLUICE_CHROME names.
 * @throws Error with instructions if there is none
 */
export const startChromium = async (): Promise<Browser> => {
  try {
    // The sandbox can't be used by root, as which CI runs.
    return await chromium.launch({ ...optionsFor(), args, chromiumSandbox: process.getuid?.() !== 0 });
  } catch (error) {
    throw new Error('No Chromium could be started. Install Chrome, or set SLUICE_CHROME to the path of one.', { cause: error });
  }
};
