import { flushCompileCache } from 'node:module';
import 'cognito-local/lib/bin/start.js';

// The local run ends it with SIGKILL.
flushCompileCache();
