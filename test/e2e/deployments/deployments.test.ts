import { afterAll } from '@jest/globals';
import { deploymentRun } from './run.ts';
import './benchmark.ts';
import './shadow.ts';
import './never-cold.ts';
import './cold-start.ts';

afterAll(deploymentRun.close);
