import { readFileSync } from 'node:fs';
import path from 'node:path';

const REGISTRY = path.join(import.meta.dirname, '../../../console/app/screens.ts');

/** The paths of all screens, as the console's registry writes them: `/api-keys/:id`. */
export const screenPaths = (): readonly string[] => {
  // Read as a text, because Node can't import the screens themselves.
  const text = readFileSync(REGISTRY, 'utf8');
  const paths = [...text.matchAll(/\bpath: '([^']+)'/g)].map(([, found = '']) => found);
  const count = text.match(/\bcomponent: load\(/g)?.length;
  if (paths.length !== count) throw new Error(`${REGISTRY} has ${count} screens, and ${paths.length} paths were found.`);
  return paths;
};

/** True for the path of a screen of one thing, which another screen leads to. */
export const isOfOneThing = (screen: string): boolean => /[:*]/.test(screen);

/** The screen that answers to a path, as the console's router finds it. */
export const screenOf = (path: string): string | undefined => screenPaths().find((screen) => exampleOf(screen, [path]) !== undefined);

/** The first of these paths that a screen answers to. */
export const exampleOf = (screen: string, found: readonly string[]): string | undefined => {
  const pattern = new RegExp(`^${screen.replace(/:\w+/g, '[^/?]+').replace('*', '[^?]+')}(?:\\?|$)`);
  return found.find((one) => pattern.test(one));
};
