import type { LambdaFunction } from '../../assembly/local-app.ts';

/** The access key id of a function, by which emulators recognize its calls. */
export const accessKeyIdOf = ({ name }: Pick<LambdaFunction, 'name'>): string => `function.${name}`;
