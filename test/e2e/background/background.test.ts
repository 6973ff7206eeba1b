import { afterAll, afterEach } from '@jest/globals';
import { background } from './run.ts';
import './load.ts';
import './month-end.ts';
import './refusals.ts';
import './rollups.ts';
import './service-levels.ts';
import './sweep.ts';
import './webhooks.ts';

afterEach(async () => (await background.start()).controlFunctions('clock'));
afterAll(background.close);
