import { enableCompileCache } from 'node:module';
import path from 'node:path';
import { createProgress, silentProgress } from './progress.ts';

/*
 * The program of `npm start`. Everything else is loaded after its first line is printed, and with Node's compile cache, which halves the time that takes.
 */
enableCompileCache(path.join(import.meta.dirname, '../../node_modules/.cache/sluice'));
const isSilent = ['--quiet', '--help'].some((flag) => process.argv.includes(flag));
const progress = isSilent ? silentProgress : createProgress(process.stdout);
const { main } = await progress.during('Loading Sluice', () => import('./main.ts'));
process.exit(await main(process.argv.slice(2), progress));
