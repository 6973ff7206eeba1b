import { enableCompileCache } from 'node:module';
import { cacheFolder } from './processes/compile-cache.ts';
import { createProgress, silentProgress } from './progress.ts';

// `npm start` prints its first line before it loads anything else, with Node's compile cache, which halves the time
// that takes.
enableCompileCache(cacheFolder);
const isSilent = ['--quiet', '--help'].some((flag) => process.argv.includes(flag));
const progress = isSilent ? silentProgress : createProgress(process.stdout);
const { main } = await progress.during('Loading Sluice', () => import('./main.ts'));
process.exit(await main(process.argv.slice(2), progress));
