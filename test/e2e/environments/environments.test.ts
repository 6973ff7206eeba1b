import { afterAll } from '@jest/globals';
import { environments } from './run.ts';
import './credit.ts';
import './exchange-storm.ts';
import './idempotency.ts';
import './limits.ts';
import './strangers.ts';

afterAll(environments.close);
