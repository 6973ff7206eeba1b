/** A variable of the function's environment. @throws Error if it is missing, which is a deployment error */
export const environmentVariable = (name: string): string => {
  const value = process.env[name];
  if (!value) throw new Error(`The environment variable ${name} is missing.`);
  return value;
};
