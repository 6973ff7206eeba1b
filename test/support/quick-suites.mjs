import path from 'node:path';
import { isQuick } from './suites.ts';

const ROOT = path.join(import.meta.dirname, '../..');

/** Jest's filter of `npm run test:quick`. */
export default (paths) => ({
  filtered: paths.filter((file) => isQuick(path.relative(ROOT, file))).map((test) => ({ test })),
});
