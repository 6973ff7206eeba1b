import { keepTestAssembly } from './isolated-assembly.ts';

await keepTestAssembly();
