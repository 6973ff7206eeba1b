import type { Component, Copy } from './records.ts';
import type { AccountState } from './state.ts';

// Until the container of a copy starts, there is no log group.
const FIRST_LINES = [
  'INFO [api_server.py:1207] vLLM API server version 0.27.0',
  'INFO [model.py:541] Resolved architecture: Qwen3ForCausalLM',
  'INFO [gpu_model_runner.py:2602] Starting to load model /opt/ml/model...',
];
const READY = ['INFO [gpu_model_runner.py:2653] Model loading took 15.27 GiB', 'INFO:     Application startup complete.'];
const CRASH = [
  'ERROR [core.py:710] EngineCore failed to start.',
  'Traceback (most recent call last):',
  '  File "/usr/local/lib/python3.12/site-packages/vllm/v1/engine/core.py", line 701, in run_engine_core',
  '    engine_core = EngineCoreProc(*args, **kwargs)',
  'ValueError: No available memory for the cache blocks. Try increasing `gpu_memory_utilization` when initializing the engine.',
];

const logGroupOf = (component: string): string => `/aws/sagemaker/InferenceComponents/${component}`;

const write = (state: AccountState, { name, variantName }: Component, { instanceId, id }: Copy, lines: readonly string[]): void =>
  state.logs.write(logGroupOf(name), `${variantName}/${instanceId}/${id}`, state.timeline.time(), lines);

export const logStart = (state: AccountState, component: Component, copy: Copy): void => write(state, component, copy, FIRST_LINES);
export const logReady = (state: AccountState, component: Component, copy: Copy): void => write(state, component, copy, READY);
export const logCrash = (state: AccountState, component: Component, copy: Copy): void => write(state, component, copy, CRASH);
