/** A function that is loaded by its first call, so that it and its schemas don't delay a cold start. */
export const lazy = <Parameters extends unknown[], Result>(
  load: () => Promise<(...parameters: Parameters) => Promise<Result>>,
): ((...parameters: Parameters) => Promise<Result>) => {
  let loading: ReturnType<typeof load> | undefined;
  return async (...parameters) => {
    loading ??= load();
    return (await loading)(...parameters);
  };
};
