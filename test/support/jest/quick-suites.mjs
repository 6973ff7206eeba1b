import path from 'node:path';
import { isQuick } from './suites.ts';

const ROOT = path.join(import.meta.dirname, '../../..');

// Jest's filter of `npm run test:quick`.
const onlyQuick = (paths) => ({ filtered: paths.filter((file) => isQuick(path.relative(ROOT, file))) });

// Jest requires its filter, which must be the module itself.
export { onlyQuick as 'module.exports' };
