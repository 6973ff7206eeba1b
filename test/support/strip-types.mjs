import { stripTypeScriptTypes } from 'node:module';

/** The jest transform: types become blanks, so lines and columns in stack traces stay exact. */
export default { process: (source) => ({ code: stripTypeScriptTypes(source, { mode: 'strip' }) }) };
