import { afterAll } from '@jest/globals';
import { scripted } from './run.ts';
import './claude-code.ts';
import './codex.ts';
import './foreign-server.ts';
import './same-cost.ts';

afterAll(scripted.close);
