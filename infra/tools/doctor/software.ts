import { failure, ok, type Row } from './row.ts';

const majorOf = (version: string): string => version.split('.', 1)[0] ?? '';

/**
 * Checks that the commands run with the project's Node.
 * @param running such as `24.21.0`
 * @param wanted the version of the package `node`
 */
export const nodeRow = (running: string, wanted: string): Row =>
  majorOf(running) === majorOf(wanted)
    ? ok('Node', running)
    : failure('Node', `${running}, but the project runs with ${wanted}`, 'Run npm ci, and start commands with npm run.');
