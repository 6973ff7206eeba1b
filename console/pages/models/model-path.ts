/** The address of a model's screen. Names can have slashes. @param organization of a deployment's model */
export const modelPath = (name: string, organization: string | null): string =>
  `/models/${name.split('/').map(encodeURIComponent).join('/')}${organization === null ? '' : `?${new URLSearchParams({ organization })}`}`;

/** The name in the part of an address after `/models/`. */
export const modelNameOf = (path: string): string => path.split('/').map(decodeURIComponent).join('/');
