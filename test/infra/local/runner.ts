import { startLocal } from '../../../infra/local/run.ts';

// Tests kill this runner. It starts the local run of an assembly and sends its process ids over IPC.
const [assemblyDir = '', stateDir = '', containerUrl = ''] = process.argv.slice(2);
const run = await startLocal({
  assemblyDir,
  stateDir,
  containerUrl,
  ephemeral: true,
  port: 0,
  environments: 1,
  stopOnDisconnect: false,
  tokenDelayMs: 0,
  quiet: true,
});
process.send?.(run.pids());
