import { validatedAssembly } from './isolated-assembly.ts';

await validatedAssembly();
