import { readFileSync, statSync } from 'node:fs';
import { type LoadHookSync, type ResolveFnOutput, type ResolveHookSync, registerHooks, stripTypeScriptTypes } from 'node:module';
import path from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { findLoadedModules } from './loaded-modules.ts';

const ROOT = pathToFileURL(`${path.join(import.meta.dirname, '../../..')}/`).href;
const PACKAGES = `${ROOT}node_modules/`;
// Ends the URL of a suite's modules, before the suite's number.
const SUITE = '?suite=';
const GLOBALS_URL = 'jest-globals:';
const GLOBALS = 'sluiceSuiteGlobals';
const GLOBAL_NAMES = ['afterAll', 'afterEach', 'beforeAll', 'beforeEach', 'describe', 'expect', 'jest', 'test'];

const globalsOf: Record<string, object> = {};
Object.defineProperty(globalThis, GLOBALS, { value: globalsOf });

const suiteOf = (url: string | undefined): string | undefined => url?.split(SUITE)[1];

const isOfProject = (url: string): boolean => url.startsWith(ROOT) && !url.startsWith(PACKAGES) && !url.includes('?');

// As in a function, whose process serves one invocation after another. What begins a process is evaluated anew, because
// it reads the environment.
const isProduct = (url: string): boolean =>
  /^(?:functions|infra|shared)\//.test(url.slice(ROOT.length)) && !/\/(?:handler|main)\.ts$/.test(url);

let sharesProduct = false;

// For all suites of a worker, by what is imported and by whom: Node itself would search again for each suite.
const resolutions = new Map<string, ResolveFnOutput>();
const resolveOnce: ResolveHookSync = (specifier, context, next) => {
  if (context.conditions?.includes('require')) return next(specifier, context);
  const [parent] = context.parentURL?.split(SUITE) ?? [];
  const key = `${specifier} ${parent}`;
  const resolved = resolutions.get(key) ?? next(specifier, context);
  resolutions.set(key, resolved);
  return { ...resolved, shortCircuit: true };
};

const resolve: ResolveHookSync = (specifier, context, next) => {
  const suite = suiteOf(context.parentURL);
  if (suite === undefined) return next(specifier, context);
  if (specifier === '@jest/globals') return { url: `${GLOBALS_URL}${SUITE}${suite}`, format: 'module', shortCircuit: true };
  const resolved = resolveOnce(specifier, context, next);
  if (!isOfProject(resolved.url) || (sharesProduct && isProduct(resolved.url))) return resolved;
  return { ...resolved, url: `${resolved.url}${SUITE}${suite}` };
};

// Node warns that stripping is experimental. Types become blanks, so lines and columns in stack traces stay exact.
const strip = (source: string): string => {
  const { emitWarning } = process;
  process.emitWarning = () => {};
  try {
    return stripTypeScriptTypes(source, { mode: 'strip' });
  } finally {
    process.emitWarning = emitWarning;
  }
};

// For all suites of a worker, by path. In watch mode, files change between suites.
const sources = new Map<string, { mtimeMs: number; source: string }>();
const sourceOf = (file: string): string => {
  const { mtimeMs } = statSync(file);
  const known = sources.get(file);
  if (known?.mtimeMs === mtimeMs) return known.source;
  const source = strip(readFileSync(file, 'utf8'));
  sources.set(file, { mtimeMs, source });
  return source;
};

const load: LoadHookSync = (url, context, next) => {
  const suite = suiteOf(url);
  if (suite === undefined) return next(url, context);
  if (url.startsWith(GLOBALS_URL)) {
    const source = `export const { ${GLOBAL_NAMES.join()} } = globalThis.${GLOBALS}[${suite}];`;
    return { format: 'module', source, shortCircuit: true };
  }
  const file = fileURLToPath(url);
  if (!file.endsWith('.ts')) return next(url, context);
  return { format: 'module', source: sourceOf(file), shortCircuit: true };
};

registerHooks({ resolve, load });

const loaded = findLoadedModules();

// Under it, Jest keeps the tests of each suite, which refer to their modules.
const STATE = 'JEST_STATE_SYMBOL';

let suites = 0;

/**
 * Returns what evaluates modules for one suite. It gets its own copies of the modules of tests and of the console, with
 * the state in them. With the other suites of its process it shares packages and, if files don't change, the product.
 */
export const openSuite = ({ canFilesChange }: { canFilesChange: boolean }) => {
  const suite = ++suites;
  sharesProduct = !canFilesChange;
  return {
    /** Says what `@jest/globals` exports to this suite. */
    setGlobals: (globals: object): void => {
      globalsOf[suite] = globals;
    },
    /** Forgets its modules and its tests. */
    close: (): void => {
      for (const url of loaded?.keys() ?? []) if (suiteOf(url) === String(suite)) Map.prototype.delete.call(loaded, url);
      for (const symbol of Object.getOwnPropertySymbols(globalThis))
        if (symbol.description === STATE) Reflect.deleteProperty(globalThis, symbol);
      delete globalsOf[suite];
    },
    import: (file: string): Promise<unknown> => import(`${pathToFileURL(file).href}${SUITE}${suite}`),
  };
};
