import { isolatedAssembly } from './isolated-assembly.ts';

await isolatedAssembly();
