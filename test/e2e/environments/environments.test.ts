import { afterAll } from '@jest/globals';
import { environments } from './run.ts';
import './credit.ts';
import './idempotency.ts';
import './limits.ts';

afterAll(environments.close);
