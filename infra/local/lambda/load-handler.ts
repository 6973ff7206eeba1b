import { existsSync } from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';

const EXTENSIONS = ['.mjs', '.js', '.cjs'];

type Handler = (...parameters: unknown[]) => unknown;

/**
 * Imports the handler of a bundle.
 * @param handler `<file without extension>.<export>`
 * @throws Error if the file or export does not exist, and whatever the bundle throws while it is loaded
 */
export const loadHandler = async (folder: string, handler: string): Promise<Handler> => {
  const [module = '', name = ''] = handler.split('.');
  const file = EXTENSIONS.map((extension) => path.join(folder, module + extension)).find((candidate) => existsSync(candidate));
  if (file === undefined) throw new Error(`Module ${module} does not exist in ${folder}`);
  const exported: Record<string, unknown> = await import(pathToFileURL(file).href);
  const found = exported[name];
  if (typeof found !== 'function') throw new Error(`${handler} is undefined or not exported`);
  return found as Handler;
};
