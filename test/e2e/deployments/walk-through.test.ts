import { afterAll } from '@jest/globals';
import { deploymentsWalk } from './walk.ts';
// First, because tokens of users that are created while the functions' clock is ahead are invalid.
import './adapters-page.ts';
import './on-demand-page.ts';

afterAll(deploymentsWalk.close);
