import type { ICruiseOptions, IForbiddenRuleType } from 'dependency-cruiser';

/** The rooms of shared/, low to high: each may import only those before it. */
const ROOMS = [
  'ids',
  'logging',
  'environment',
  'http',
  'database',
  'prices',
  'models',
  'hosts',
  'tokens',
  'upstream',
  'admission',
  'usage',
  'responses',
];

const forbid = (
  name: string,
  comment: string,
  from: { path?: string },
  to: { path?: string; pathNot?: string; circular?: true },
  scope: 'module' | 'folder' = 'module',
) => ({ name, comment, severity: 'error' as const, scope, from, to });

/** What may import what. */
export const rules: IForbiddenRuleType[] = [
  forbid('no-file-cycles', 'Move what both files need to the lower one.', {}, { circular: true }),
  forbid('no-folder-cycles', 'Move what both folders need to the lower one.', {}, { circular: true }, 'folder'),
  forbid(
    'functions-stand-alone',
    'Functions never import one another. Move what both need to shared/.',
    { path: '^functions/([^/]+)/' },
    { path: '^functions/', pathNot: '^functions/$1/' },
  ),
  forbid('shared-is-below-functions', 'shared/ knows no function.', { path: '^shared/' }, { path: '^functions/' }),
  forbid('only-infra-imports-infra', 'A function cannot tell where it runs.', { path: '^(functions|shared)/' }, { path: '^infra/' }),
  forbid('nothing-imports-tests', 'Tests import the product.', { path: '^(functions|shared|infra)/' }, { path: '^test/' }),
  forbid(
    'shared-has-no-other-rooms',
    'Give a new room of shared/ its place in the order of test/architecture/rules.ts.',
    {},
    { path: '^shared/', pathNot: `^shared/(${ROOMS.join('|')})/` },
  ),
  ...ROOMS.map((room, i) =>
    forbid(
      `shared-${room}-points-down`,
      `shared/${room} may import only: ${ROOMS.slice(0, i).join(', ') || 'nothing'}.`,
      { path: `^shared/${room}/` },
      { path: `^shared/(${ROOMS.slice(i + 1).join('|') || 'none'})/` },
    ),
  ),
];

/** How imports are read. */
export const readOptions: ICruiseOptions = {
  // Imports of types count as well, although they are gone at run time.
  tsPreCompilationDeps: true,
  doNotFollow: { path: 'node_modules' },
  exclude: { path: '(^|/)(node_modules|cdk\\.out)/' },
};
