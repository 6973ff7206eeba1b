import { afterAll } from '@jest/globals';
import { singleSignOn } from './run.ts';
import './logins.ts';
import './page.ts';

afterAll(singleSignOn.close);
