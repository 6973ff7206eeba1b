import { afterAll } from '@jest/globals';
import { singleSignOn } from './run.ts';
import './console.ts';
import './logins.ts';
import './page.ts';

afterAll(singleSignOn.close);
