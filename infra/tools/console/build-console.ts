import path from 'node:path';
import { build, type Metafile } from 'esbuild';
import { fewChunks } from './few-chunks.ts';

const root = path.join(import.meta.dirname, '../../..');

interface Asset {
  /** With a hash of the content, so that browsers can keep the file forever. */
  name: string;
  content: Uint8Array;
}

interface BuiltConsole {
  assets: readonly Asset[];
  /** The names of the files that the page loads. */
  entry: string;
  style: string;
  metafile: Metafile;
}

/** Bundles the console. Each page of it is a chunk of its own, which is loaded when the page is first shown. */
export const buildConsole = async (): Promise<BuiltConsole> => {
  const { outputFiles, metafile } = await build({
    absWorkingDir: root,
    entryPoints: { console: 'console/main.tsx' },
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'browser',
    target: ['chrome123', 'firefox125', 'safari17.5'],
    jsx: 'automatic',
    minify: true,
    legalComments: 'linked',
    define: { 'process.env.NODE_ENV': '"production"' },
    entryNames: '[name]-[hash]',
    chunkNames: '[name]-[hash]',
    assetNames: '[name]-[hash]',
    outdir: 'assets',
    write: false,
    metafile: true,
    logLevel: 'warning',
    plugins: [fewChunks(root)],
  });
  const outputs = Object.entries(metafile.outputs);
  const nameOf = (file: string): string => path.basename(file);
  const [entry, { cssBundle = '' } = {}] = outputs.find(([, { entryPoint }]) => entryPoint === 'console/main.tsx') ?? [''];
  return {
    // Each chunk's styles are in the page's style sheet as well.
    assets: outputFiles
      .map(({ path: file, contents }) => ({ name: nameOf(file), content: contents }))
      .filter(({ name }) => !name.endsWith('.css') || name === nameOf(cssBundle)),
    entry: nameOf(entry),
    style: nameOf(cssBundle),
    metafile,
  };
};
