import { appendFileSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import type { Use } from '../../../infra/local/permissions/check.ts';

const ROOT = path.join(import.meta.dirname, '../../..');

// Local runs of all suites record their permissions there. Only Jest sets it, so that the bench doesn't check them.
const folder = (): string | undefined => process.env.SLUICE_TEST_PERMISSIONS;

/** Tells if local runs check permissions. */
export const isChecked = (): boolean => folder() !== undefined;

const suite = (): string => path.relative(path.join(ROOT, 'test'), process.env.SLUICE_TEST_SUITE ?? '');

/** `<role> <action> <resource>` */
export const permissionId = ({ role, action, resource }: { role: string; action: string; resource: string }): string =>
  [role, action, resource].join(' ');

/** Records the permissions that a local run used, for the check at the end of all tests. */
export const recordUses = (uses: readonly Use[]): void => {
  const into = folder();
  if (into === undefined) return;
  const lines = new Set(uses.filter(({ kind }) => kind === 'used').map((use) => `${suite()}\t${permissionId(use)}\n`));
  appendFileSync(path.join(into, `${process.pid}.tsv`), [...lines].join(''));
};

/** The suites that used each permission. */
export const readRecordedUses = (from: string): Map<string, Set<string>> => {
  const suites = new Map<string, Set<string>>();
  for (const file of readdirSync(from))
    for (const line of readFileSync(path.join(from, file), 'utf8').split('\n').filter(Boolean)) {
      const [name = '', id = ''] = line.split('\t');
      suites.set(id, (suites.get(id) ?? new Set()).add(name));
    }
  return suites;
};
