/** A variable of the function's environment; its absence is a mistake of the deployment. */
export const environmentVariable = (name: string): string => {
  const value = process.env[name];
  if (!value) throw new Error(`The environment variable ${name} is missing.`);
  return value;
};
