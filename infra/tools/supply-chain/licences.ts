import { foreignEntries, type LockFile } from './lock-file.ts';

// None of these asks for the source of a program that uses the package.
const ALLOWED = new Set([
  ...['MIT', 'ISC', '0BSD', 'BSD-2-Clause', 'BSD-3-Clause', 'Apache-2.0', 'BlueOak-1.0.0', 'Unlicense', 'CC0-1.0'],
  // Fonts, and the data of browsers that a compiler of tests reads.
  ...['OFL-1.1', 'CC-BY-4.0'],
  // It applies file by file, so only to changes of the accessibility checker that tests run.
  'MPL-2.0',
]);

// Packages that name no licence in package.json, with the one in their LICENSE file.
const UNNAMED: Readonly<Record<string, string>> = { 'png-js@2.0.0': 'MIT' };

const NAME = /(?:^|\/)node_modules\/((?:@[^/]+\/)?[^/]+)$/;

// True if a choice of the SPDX expression is allowed. Parentheses are only around whole expressions, or around choices.
const isAllowed = (expression: string): boolean =>
  expression
    .replaceAll(/[()]/g, '')
    .split(' OR ')
    .some((choice) => choice.split(' AND ').every((licence) => ALLOWED.has(licence.trim())));

/** The packages whose licence is not on the list. */
export const licenceFaults = (lock: LockFile): string[] =>
  foreignEntries(lock).flatMap(([folder, { version, license }]) => {
    const name = `${NAME.exec(folder)?.[1]}@${version}`;
    const licence = license ?? UNNAMED[name];
    if (licence !== undefined && isAllowed(licence)) return [];
    return [
      `${name} has the licence ${licence ?? 'of no name'}, which is not on the list in infra/tools/supply-chain/licences.ts. Read it first.`,
    ];
  });
