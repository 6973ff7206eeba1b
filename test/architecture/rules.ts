import type { ICruiseOptions, IForbiddenRuleType } from 'dependency-cruiser';

// From low to high: each may import only those before it.
const SHARED_FOLDERS = [
  'ids',
  'time',
  'csv',
  'logging',
  'environment',
  'network',
  'http',
  'static-files',
  'aws',
  'database',
  'quotas',
  'middleware',
  'audit',
  'notifications',
  'prices',
  'models',
  'deployments',
  'hosts',
  'identity',
  'single-sign-on',
  'service-accounts',
  'federation',
  'tokens',
  'upstream',
  'admission/item',
  'admission/plans',
  'admission/stores',
  'admission/keys',
  'gpu-time',
  'usage',
  'observability',
  'payload-log',
  'credit',
  'service-levels',
  'billing',
  'responses',
  'tickets',
];

const forbid = (
  name: string,
  comment: string,
  from: { path?: string },
  to: { path?: string; pathNot?: string; circular?: true },
  scope: 'module' | 'folder' = 'module',
) => ({ name, comment, severity: 'error' as const, scope, from, to });

/** The imports that are forbidden. */
export const rules: IForbiddenRuleType[] = [
  forbid('no-file-cycles', 'Move what both files need to the lower one.', {}, { circular: true }),
  forbid('no-folder-cycles', 'Move what both folders need to the lower one.', {}, { circular: true }, 'folder'),
  forbid(
    'functions-stand-alone',
    'Functions must not import one another. Move what both need to shared/.',
    { path: '^functions/([^/]+)/' },
    { path: '^functions/', pathNot: '^functions/$1/' },
  ),
  forbid('shared-is-below-functions', 'shared/ must not import functions/.', { path: '^shared/' }, { path: '^functions/' }),
  forbid(
    'only-infra-imports-infra',
    'functions/ and shared/ must not import infra/.',
    { path: '^(functions|shared)/' },
    { path: '^infra/' },
  ),
  forbid(
    'the-app-is-apart-from-its-tools',
    'What is deployed must not import tools or emulators: infra/assembly/kept-assembly.ts does not hash them.',
    { path: '^infra/(app\\.ts|bundling/|config/|constructs/|stacks/|tools/reference/)' },
    { path: '^infra/(?!app\\.ts|bundling/|config/|constructs/|stacks/|tools/reference/)' },
  ),
  forbid(
    'the-assembly-is-below-its-readers',
    'infra/assembly reads what the app is synthesized to. Tools and emulators import it, not the other way round.',
    { path: '^infra/assembly/' },
    { path: '^infra/(local|stacks|tools)/' },
  ),
  forbid(
    'nothing-imports-tests',
    'functions/, shared/ and infra/ must not import test/.',
    { path: '^(functions|shared|infra)/' },
    { path: '^test/' },
  ),
  forbid(
    'the-console-is-apart',
    'functions/, shared/ and infra/ must not import console/: infra/tools/console bundles it by its path.',
    { path: '^(functions|shared|infra)/' },
    { path: '^console/' },
  ),
  {
    name: 'the-console-takes-only-types',
    comment: 'console/ runs in browsers: it may import only types of functions/ and shared/.',
    severity: 'error',
    from: { path: '^console/' },
    to: { path: '^(functions|shared|infra|test)/', dependencyTypesNot: ['type-only'] },
  },
  forbid(
    'shared-has-no-other-folders',
    'Add a new folder of shared/ to SHARED_FOLDERS in test/architecture/rules.ts.',
    {},
    { path: '^shared/', pathNot: `^shared/(${SHARED_FOLDERS.join('|')})/` },
  ),
  ...SHARED_FOLDERS.map((folder, i) =>
    forbid(
      `shared-${folder}-points-down`,
      `shared/${folder} may import only: ${SHARED_FOLDERS.slice(0, i).join(', ') || 'nothing'}.`,
      { path: `^shared/${folder}/` },
      { path: `^shared/(${SHARED_FOLDERS.slice(i + 1).join('|') || 'none'})/` },
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
